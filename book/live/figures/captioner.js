// Soft and hard attention on a canvas of digits that the reader sets or draws.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, oneStop, choice, buttons, slider, words, percent, largest, softmax } = LIVE;
  const SIDE = 28,
    GRID = 7,
    WORDS = "<pad> <bos> <eos> a an zero one two three four five six seven eight nine above left right of".split(" ");
  // One held-out image per digit, 8 × 8 pixels from 0 to g = 16 (Alpaydin and Kaynak 1998, UCI; CC BY 4.0).
  const DIGITS = [
    "002fd200008gfc00009e1f5000ed0b9003gb0c9002g32g6001dbfe00004gf500",
    "0003fg10007fge0004ggfd000082fd000000gf000000gc000001gg200003fd10",
    "00d9000008gf0000099d2000000b3000001d0000004d000001df8cb000cggc20",
    "008g800000g6f10004a0c2000007g3000005dg3000000b6000c99g20008gf700",
    "0002e500001bb000007e100005g346200egegga009c78g400000dc000003f600",
    "009ggg40008g540001f9000009f8730003cceg5000001bc000121ba0009ggg40",
    "0007f000006f800000d9000002g5410005gggc3001f418c0008e55f00006ggb0",
    "002dg80000d77d0001707d20001aggd0006dg2000015b000000c4000002e0000",
    "0018d100006gg90001fgga0006fe60000376600001a2b000004bd2000005c500",
    "018bdc0005904g1007505g5001dbd680003414800000075002812e00008db300",
  ];
  const START = [2, 7, 6, 6, 10, 18, 8, 19, 17], // digit, row, column each: the canvas of the printed figure
    MOST = 6; // digits on a canvas; in training there were two or three
  const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const nameOf = (digit) => WORDS[digit + 5];

  // The canvas with these digits: [digit, row, column, …] -> 28 × 28 numbers from 0 to 1.
  LIVE.canvasOf = function (placed, ink = []) {
    const image = new Float32Array(SIDE * SIDE);
    for (let n = 0; n < placed.length; n += 3) {
      Array.from(DIGITS[placed[n]], (letter, i) => {
        const at = (placed[n + 1] + Math.floor(i / 8)) * SIDE + placed[n + 2] + (i % 8);
        image[at] = Math.max(image[at], parseInt(letter, 17) / 16);
      });
    }
    ink.forEach((at) => (image[at] = 1));
    return image;
  };

  LIVE.captioned = function (model, image, start = model.start(image, SIDE)) {
    let state = start,
      token = LIVE.BOS;
    const steps = [];
    while (steps.length < 20 && token !== LIVE.EOS) {
      const step = model.step(token, state);
      state = step.state;
      [token] = largest(step.logits, 1);
      const word = token === LIVE.EOS ? "(end)" : WORDS[token];
      steps.push({ word, weights: step.weights, location: step.location, chance: softmax(step.logits)[token] });
    }
    return steps;
  };
  const written = (steps) =>
    steps
      .map((step) => step.word)
      .filter((word) => word !== "(end)")
      .join(" ");

  // The placed digits as objects, and the one that covers most of a cell of the feature map, if any does.
  const digitsOf = (placed) =>
    Array.from({ length: placed.length / 3 }, (_, n) => {
      const [digit, row, column] = placed.slice(3 * n, 3 * n + 3);
      return { digit, row, column };
    });
  LIVE.digitOn = function (placed, cell) {
    const size = SIDE / GRID,
      shared = (from, to) => Math.max(0, Math.min(from + size, to + 8) - Math.max(from, to));
    const covered = ({ row, column }) => shared(Math.floor(cell / GRID) * size, row) * shared((cell % GRID) * size, column);
    return digitsOf(placed)
      .filter((one) => covered(one) > 0)
      .sort((a, b) => covered(b) - covered(a))[0];
  };

  LIVE.figure("captioner", {
    title: "Soft and hard attention on your canvas",
    todo: "Walk through the words of both captions: on which digit does the largest weight lie when a digit is named, and where before? Then let hard attention read a drawn position, and draw twenty times: how often does the caption change? Finally, take digits away or add some, and draw something of your own with the pen.",
    learned:
      "When soft attention names a digit, its largest weight lies at this digit, and mostly it lies there already at the article. At “left” and “above” the weights are spread: the largest is 16 % and 12 %. Hard attention reads one cell alone. Here it reads a cell of the eight, names a five, and writes “right of” for “above”: a map shows where a model reads, and not that it reads correctly. With drawn positions about every tenth caption is another one. An empty canvas is “a nine” for both models, because they have words for digits and for nothing else.",
    about:
      "Two models of Chapter 6, with soft and with hard attention (REINFORCE with four draws), 192,000 numbers each (eight bits here), trained on canvases with two or three digits.",
    packs: ["soft", "hard"],
    defaults: { placed: START, ink: [], digit: 3, tool: "digit", drawn: "largest", step: 1 },
    draw(room, state, kept, softPack, hardPack) {
      const sheet = make("canvas", { class: "live-paper", "aria-hidden": "true" }),
        where = make("p", { class: "live-aloud", role: "status" });
      const paper = make(
        "div",
        {
          role: "application",
          tabindex: 0,
          "aria-label": "Your canvas: arrow keys move the frame, Enter uses the tool there, Delete takes away what is there",
          onkeydown: typed,
          onfocus: () => drawSheet(),
          onblur: () => drawSheet(),
          onpointerdown: pressed,
          onpointermove: (event) => event.buttons && state.tool === "pen" && use(positionOf(event)),
        },
        sheet,
        where,
      );
      const fault = make("p", { class: "live-fault", role: "alert" }),
        results = make("div", { class: "live-planes" }),
        draws = make("div", {}),
        counted = make("p", { class: "live-before", role: "status" }),
        said = words();
      const models = { Soft: LIVE.Captioner(softPack), Hard: LIVE.Captioner(hardPack, { hard: true }) },
        drawing = LIVE.Captioner(hardPack, { hard: true, draw: chance });
      const counts = new Map(); // captions with drawn positions
      let seed = 1,
        at = [4, 16], // the frame's upper left corner
        image = null,
        starts = {},
        runs = {},
        shows = [];
      // The same draws again from the same seed.
      function chance() {
        seed = (seed * 48271) % 2147483647;
        return seed / 2147483647;
      }

      const size = () => (state.tool === "pen" ? 2 : 8);
      const within = (v) => Math.max(0, Math.min(SIDE - size(), v));
      function positionOf(event) {
        const box = sheet.getBoundingClientRect(),
          half = (size() * box.width) / SIDE / 2;
        return [event.clientY - box.top - half, event.clientX - box.left - half].map((v) => within(Math.round((v / box.width) * SIDE)));
      }
      function pressed(event) {
        paper.setPointerCapture(event.pointerId);
        use(positionOf(event));
      }
      function typed(event) {
        const step = size() / 2;
        if (event.key in KEYS) {
          at = at.map((v, i) => within(v + (event.shiftKey ? 1 : step) * KEYS[event.key][i]));
          const [found] = below(at);
          where.textContent = "row " + at[0] + ", column " + at[1] + (found ? ", on the " + nameOf(found.digit) : "");
          drawSheet();
        } else if (event.key === "Enter" || event.key === " ") {
          use(at);
        } else if (event.key === "Delete" || event.key === "Backspace") {
          takeAway(at);
        } else {
          return;
        }
        event.preventDefault();
      }

      // The digits under the frame's middle, the last one placed first.
      const below = ([row, column]) =>
        digitsOf(state.placed)
          .map((one, n) => ({ ...one, n }))
          .filter((one) => [row - one.row, column - one.column].every((v) => v + size() / 2 >= 0 && v + size() / 2 <= 8))
          .reverse();
      function use([row, column]) {
        at = [row, column];
        fault.textContent = "";
        if (state.tool === "away") {
          takeAway(at);
        } else if (state.tool === "pen") {
          const cells = [0, 1].flatMap((y) => [0, 1].map((x) => (row + y) * SIDE + column + x));
          kept({ ink: [...new Set([...state.ink, ...cells])] });
          run();
        } else if (state.placed.length === 3 * MOST) {
          fault.textContent = "There are six digits on the canvas, which is the most. Please take one away first.";
        } else {
          kept({ placed: [...state.placed, state.digit, row, column] });
          run();
        }
      }
      function takeAway([row, column]) {
        const [found] = below([row, column]),
          near = (cell) => [Math.floor(cell / SIDE) - row, (cell % SIDE) - column].every((v) => v >= 0 && v < size());
        const placed = found ? state.placed.toSpliced(3 * found.n, 3) : state.placed,
          ink = found ? state.ink : state.ink.filter((cell) => !near(cell));
        fault.textContent = found || ink.length < state.ink.length ? "" : "There is nothing to take away at this position.";
        kept({ placed, ink });
        run();
      }

      // An image, enlarged, and what lies on it.
      function picture(canvas) {
        Object.assign(canvas, { width: SIDE * 4, height: SIDE * 4 });
        const pen = canvas.getContext("2d");
        image.forEach((v, i) => {
          pen.fillStyle = "rgb(" + [0, 1, 2].map(() => Math.round(255 - 225 * v)).join() + ")";
          pen.fillRect((i % SIDE) * 4, Math.floor(i / SIDE) * 4, 4, 4);
        });
        return pen;
      }
      function drawSheet() {
        const pen = picture(sheet);
        if (paper.matches(":focus")) {
          pen.strokeStyle = "rgb(200,90,0)";
          pen.setLineDash([4, 3]);
          pen.strokeRect(at[1] * 4 + 0.5, at[0] * 4 + 0.5, size() * 4 - 1, size() * 4 - 1);
        }
      }
      function drawWeights(canvas, { weights, location, word }) {
        const pen = picture(canvas),
          most = Math.max(...weights),
          cell = (SIDE * 4) / GRID;
        weights.forEach((w, i) => {
          const corner = [(i % GRID) * cell, Math.floor(i / GRID) * cell];
          pen.fillStyle = "rgba(20,90,190," + ((0.75 * w) / most).toFixed(3) + ")";
          pen.fillRect(...corner, cell, cell);
          if (i === location) {
            pen.lineWidth = 2;
            pen.strokeRect(corner[0] + 1, corner[1] + 1, cell - 2, cell - 2);
          }
        });
        pen.setLineDash([4, 3]);
        digitsOf(state.placed)
          .filter(({ digit }) => nameOf(digit) === word)
          .forEach(({ row, column }) => pen.strokeRect(column * 4 - 0.5, row * 4 - 0.5, 33, 33));
      }

      function column(title, steps) {
        const canvas = make("canvas", { class: "live-paper", role: "img" }),
          list = oneStop(
            make("p", { class: "live-buttons", role: "group", "aria-label": "Words: arrow keys and Enter choose one" }),
            steps.length,
          );
        shows.push((number) => {
          const n = Math.min(number, steps.length - 1);
          drawWeights(canvas, steps[n]);
          canvas.setAttribute("aria-label", title + ": where it attends while it writes “" + steps[n].word + "”");
          Array.from(list.children, (button, i) => button.setAttribute("aria-pressed", String(i === n)));
        });
        const choose = (n) => {
          kept({ step: n });
          tell();
        };
        list.append(
          ...steps.map(({ word }, n) => {
            const tabindex = n === Math.min(state.step, steps.length - 1) ? 0 : -1;
            return make(
              "button",
              { type: "button", tabindex, "aria-label": "word " + (n + 1) + ": " + word, onclick: () => choose(n) },
              word,
            );
          }),
        );
        return make("div", {}, make("p", { class: "live-head" }, title), list, canvas);
      }

      function tell() {
        shows.forEach((show) => show(state.step));
        const told = Object.entries(runs).map(([name, steps]) => {
          const { word, weights, location } = steps[Math.min(state.step, steps.length - 1)],
            [most] = largest(weights, 1),
            on = (cell) => (LIVE.digitOn(state.placed, cell) ? "at the " + nameOf(LIVE.digitOn(state.placed, cell).digit) : "at no digit");
          const read = state.drawn === "drawn" && location >= 0 ? ", and the drawn cell " + on(location) : "";
          return (
            name +
            " attention writes “" +
            written(steps) +
            "”; at “" +
            word +
            "” its largest weight, " +
            percent(weights[most]) +
            ", lies " +
            on(most) +
            read
          );
        });
        const count = state.placed.length / 3;
        const strange =
          count + state.ink.length === 0
            ? " The canvas is empty, and the models name digits all the same: on every canvas of their training there were some."
            : state.ink.length
              ? " The models have no words for anything but digits."
              : count < 2 || count > 3
                ? " In training there were two or three digits on a canvas."
                : "";
        said.say(told.join(". ") + "." + strange);
      }

      // Reads the canvas anew with drawn positions, so often, and shows the last caption.
      function drawAgain(times) {
        for (let n = 0; n < times; n++) {
          runs.Hard = LIVE.captioned(drawing, image, starts.Hard);
          counts.set(written(runs.Hard), (counts.get(written(runs.Hard)) || 0) + 1);
        }
        const all = [...counts].sort((a, b) => b[1] - a[1]),
          total = all.reduce((sum, [, count]) => sum + count, 0);
        counted.textContent =
          "Drawn " +
          (total === 1 ? "once" : total + " times") +
          ": " +
          all
            .slice(0, 4)
            .map(([text, count]) => count + " × “" + text + "”")
            .join(", ") +
          (all.length > 4 ? ", and " + (all.length - 4) + " other captions" : "") +
          ".";
        show();
      }
      function show() {
        shows = [];
        refill(results, ...Object.entries(runs).map(([name, steps]) => column(name + " attention", steps)));
        tell();
      }
      function run() {
        image = LIVE.canvasOf(state.placed, state.ink);
        starts = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, model.start(image, SIDE)]));
        runs = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, LIVE.captioned(model, image, starts[name])]));
        counts.clear();
        counted.textContent = "";
        refill(
          draws,
          state.drawn === "drawn" ? buttons(["Draw again", () => drawAgain(1)], ["Draw twenty times", () => drawAgain(20)]) : null,
        );
        drawSheet();
        if (state.drawn === "drawn") {
          drawAgain(1);
        } else {
          show();
        }
      }

      const tools = [
        ["digit", "place a digit"],
        ["pen", "pen"],
        ["away", "take away"],
      ];
      const readings = [
        ["largest", "the largest weight"],
        ["drawn", "a drawn position"],
      ];
      const clear = () => {
        fault.textContent = "";
        kept({ placed: [], ink: [] });
        run();
      };
      room.append(
        make(
          "div",
          { class: "live-view" },
          make("div", {}, paper, fault),
          make(
            "div",
            {},
            choice("Tool", tools, state.tool, (tool) => {
              kept({ tool });
              at = at.map(within);
            }),
            slider("Digit", { from: 0, to: 9, step: 1, value: state.digit }, (digit) => kept({ digit })),
            buttons(
              ["Place it anywhere", () => state.tool === "digit" && use([0, 1].map(() => Math.floor(chance() * 21)))],
              ["Clear the canvas", clear],
            ),
            choice("Hard attention reads", readings, state.drawn, (drawn) => {
              kept({ drawn });
              run();
            }),
            draws,
            counted,
          ),
        ),
        results,
        said.element,
      );
      run();
    },
  });
})(globalThis);
