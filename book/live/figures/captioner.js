// Soft and hard attention on a canvas of digits that the reader sets or draws.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, buttons, slider, words, percent, largest, softmax } = LIVE;
  const SIDE = 28,
    GRID = 7,
    WORDS = "<pad> <bos> <eos> a an zero one two three four five six seven eight nine above left right of".split(" ");
  // One held-out image per digit, 8 × 8 pixels from 0 to g = 16 (Alpaydin and Kaynak 1998, UCI; CC BY 4.0).
  const DIGITS = [
    "002fd200008gfc00009e1f5000ed0b9003gb0c9002g32g6001dbfe00004gf500",
    "0003fg10007fge0004ggfd000082fd000000gf000000gc000001gg200003fd10",
    "007eb10006f67a000b702c0005401c00000039000000b3000009d230007gggg6",
    "008g800000g6f10004a0c2000007g3000005dg3000000b6000c99g20008gf700",
    "0002e500001bb000007e100005g346200egegga009c78g400000dc000003f600",
    "009ggg40008g540001f9000009f8730003cceg5000001bc000121ba0009ggg40",
    "001d400000cd100001g2000005g8420005gegf3003d1099000bc4bb0002dgd10",
    "002dg80000d77d0001707d20001aggd0006dg2000015b000000c4000002e0000",
    "008fe70000cgeg00003fee10000bg100005ee40000c6880001g29700009gb100",
    "018bdc0005904g1007505g5001dbd680003414800000075002812e00008db300",
  ];
  const START = [7, 2, 4, 3, 14, 17]; // digit, row, column each

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

  LIVE.captioned = function (model, image) {
    let state = model.start(image, SIDE),
      token = LIVE.BOS;
    const steps = [];
    while (steps.length < 12 && token !== LIVE.EOS) {
      const step = model.step(token, state);
      state = step.state;
      [token] = largest(step.logits, 1);
      steps.push({
        word: token === LIVE.EOS ? "(end)" : WORDS[token],
        weights: step.weights,
        location: step.location,
        chance: softmax(step.logits)[token],
      });
    }
    return steps;
  };

  LIVE.figure("captioner", {
    title: "Soft and hard attention on your canvas",
    todo: "Press on the canvas to place the chosen digit, and walk through the words of both captions. Then let hard attention draw its positions, several times. At last draw something of your own with the pen.",
    learned:
      "While a digit's name is written, soft attention puts most weight on the cells of this digit, and spreads it over several cells at other words. Hard attention reads one cell alone; with drawn positions the caption changes in some draws, when the drawn cell lies beside the digit. Whatever is drawn, the models name digits: they have no word for anything else.",
    about:
      "Two models of Chapter 6, with soft and with hard attention (REINFORCE with four draws), 192,000 numbers each (eight bits here), trained on canvases with two or three digits.",
    packs: ["soft", "hard"],
    defaults: { placed: START, ink: [], digit: 3, tool: "digit", drawn: "largest", step: 1 },
    draw(room, state, kept, softPack, hardPack) {
      const paper = make("canvas", {
        width: SIDE,
        height: SIDE,
        class: "live-paper",
        role: "img",
        "aria-label": "Your canvas",
        onpointerdown: down,
        onpointermove: (event) => event.buttons && state.tool === "pen" && ink(event),
      });
      const results = make("div", { class: "live-planes" }),
        said = words();
      let seed = 1,
        runs = {};
      const chance = () => (seed = (seed * 48271) % 2147483647) / 2147483647; // the same draws again from the same seed

      const at = (event) => {
        const box = paper.getBoundingClientRect();
        return [event.clientY - box.top, event.clientX - box.left].map((v) =>
          Math.max(0, Math.min(SIDE - 1, Math.floor((v / box.width) * SIDE))),
        );
      };
      function down(event) {
        paper.setPointerCapture(event.pointerId);
        if (state.tool === "pen") {
          ink(event);
          return;
        }
        const [row, column] = at(event).map((v) => Math.max(0, Math.min(SIDE - 8, v - 4)));
        place(row, column);
      }
      function place(row, column) {
        kept({ placed: [...state.placed, state.digit, row, column].slice(-9) });
        run();
      }
      function ink(event) {
        const [row, column] = at(event),
          cells = [
            [0, 0],
            [0, 1],
            [1, 0],
          ]
            .map(([y, x]) => [row + y, column + x])
            .filter(([y, x]) => y < SIDE && x < SIDE)
            .map(([y, x]) => y * SIDE + x);
        kept({ ink: [...new Set([...state.ink, ...cells])] });
        run();
      }

      function picture(canvas, image, weights, location) {
        Object.assign(canvas, { width: SIDE * 4, height: SIDE * 4 });
        const pen = canvas.getContext("2d");
        image.forEach((v, i) => {
          pen.fillStyle = "rgb(" + [0, 1, 2].map(() => Math.round(255 - 225 * v)).join() + ")";
          pen.fillRect((i % SIDE) * 4, Math.floor(i / SIDE) * 4, 4, 4);
        });
        const most = weights ? Math.max(...weights) : 1,
          cell = (SIDE * 4) / GRID;
        (weights || []).forEach((w, i) => {
          pen.fillStyle = "rgba(230,126,20," + ((0.75 * w) / most).toFixed(3) + ")";
          pen.fillRect((i % GRID) * cell, Math.floor(i / GRID) * cell, cell, cell);
          if (i === location) {
            pen.strokeRect((i % GRID) * cell + 1, Math.floor(i / GRID) * cell + 1, cell - 2, cell - 2);
          }
        });
      }

      function column(title, steps, image) {
        const canvas = make("canvas", { class: "live-paper", role: "img" }),
          list = make("p", { class: "live-buttons" });
        const show = (n) => {
          picture(canvas, image, steps[n].weights, steps[n].location);
          canvas.setAttribute("aria-label", title + ": where it attends while it writes “" + steps[n].word + "”");
          Array.from(list.children, (button, i) => button.setAttribute("aria-pressed", String(i === n)));
        };
        list.append(
          ...steps.map((step, n) =>
            make(
              "button",
              {
                type: "button",
                onclick: () => {
                  kept({ step: n });
                  show(n);
                  tell();
                },
              },
              step.word,
            ),
          ),
        );
        show(Math.min(state.step, steps.length - 1));
        return make("div", {}, make("p", { class: "live-head" }, title), list, canvas);
      }

      function tell() {
        const told = Object.entries(runs).map(([name, steps]) => {
          const step = steps[Math.min(state.step, steps.length - 1)];
          return (
            name +
            " attention writes “" +
            steps
              .slice(0, -1)
              .map((one) => one.word)
              .join(" ") +
            "”; at “" +
            step.word +
            "” its largest weight is " +
            percent(Math.max(...step.weights))
          );
        });
        said.say(told.join(". ") + ".");
      }

      function run() {
        const image = LIVE.canvasOf(state.placed, state.ink);
        picture(paper, image);
        runs = {
          Soft: LIVE.captioned(LIVE.Captioner(softPack), image),
          Hard: LIVE.captioned(LIVE.Captioner(hardPack, { hard: true, draw: state.drawn === "drawn" ? chance : undefined }), image),
        };
        results.replaceChildren(...Object.entries(runs).map(([name, steps]) => column(name + " attention", steps, image)));
        tell();
      }

      const clear = () => {
        kept({ placed: [], ink: [] });
        run();
      };
      const random = () => place(Math.floor(chance() * 21), Math.floor(chance() * 21));
      room.append(
        make(
          "div",
          { class: "live-view" },
          paper,
          make(
            "div",
            {},
            choice(
              "Tool",
              [
                ["digit", "place a digit"],
                ["pen", "pen"],
              ],
              state.tool,
              (tool) => kept({ tool }),
            ),
            slider("Digit", { from: 0, to: 9, step: 1, value: state.digit }, (digit) => kept({ digit })),
            buttons(["Place it anywhere", random], ["Clear the canvas", clear]),
            choice(
              "Hard attention reads",
              [
                ["largest", "the largest weight"],
                ["drawn", "a drawn position"],
              ],
              state.drawn,
              (drawn) => {
                kept({ drawn });
                run();
              },
            ),
            buttons(["Draw again", run]),
          ),
        ),
        results,
        said.element,
      );
      run();
    },
  });
})(globalThis);
