// Soft and hard attention on a canvas of digits that the reader sets or draws.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, oneStop, choice, buttons, slider, words, percent, largest, digitName: nameOf } = LIVE;
  const DIGITS = Array.from({ length: 10 }, (_, digit) => LIVE.digitName(digit)),
    START = [2, 7, 6, 6, 10, 18, 8, 19, 17]; // digit, row, column each: the canvas of the printed figure

  LIVE.figure("captioner", {
    title: "Soft and hard attention on your canvas",
    todo: "Press “Next word of both”: on which digit does the blue, the weight, lie when a digit is named (dashed frame), and where before? Then let hard attention read a drawn position (black frame), and draw twenty more captions: how often does the caption change? Last, change the canvas below: take digits away, add some, or draw with the pen.",
    learned:
      "On the canvas of the start, soft attention names three digits, and each time its largest weight lies at the digit named. Mostly it lies there already at the article. At “left” and “above” the weights are spread: the largest is 16 % and 12 %. On other canvases this is mostly so, and less often with more digits than in training. Hard attention reads one cell alone. At the start it reads a cell of the eight, names a five, and writes “right of” for “above”: a map shows where a model reads, and not that it reads correctly. With drawn positions about every tenth caption is another one there. An empty canvas is “a nine” for both models, because they have words for digits and for nothing else.",
    about:
      "Two models of Chapter 6, with soft and with hard attention (REINFORCE with four draws), 192,000 numbers each (eight bits here), trained on canvases with two or three digits.",
    packs: ["soft", "hard"],
    defaults: { placed: START, ink: [], digit: 3, tool: "digit", drawn: "largest", step: 1 },
    draw(room, state, kept, softPack, hardPack) {
      const results = make("div", { class: "live-planes" }),
        draws = make("div", {}),
        counted = make("p", { class: "live-before", role: "status" }),
        both = make("p", { class: "live-head" }),
        said = words();
      const chance = LIVE.chanceFrom(1),
        models = { Soft: LIVE.Captioner(softPack), Hard: LIVE.Captioner(hardPack, { hard: true }) },
        drawing = LIVE.Captioner(hardPack, { hard: true, draw: chance });
      const counts = new Map(); // captions with drawn positions
      let image = null,
        starts = {},
        runs = {},
        shows = [];
      const board = LIVE.digitBoard({
        state,
        nameOf,
        changed: (what) => {
          kept(what);
          run();
        },
      });
      const wordsOf = (steps) => steps.map((step) => step.word),
        stepOf = (steps) => steps[LIVE.wordAt(wordsOf(steps), state.step)];

      function column(title, steps) {
        const canvas = make("canvas", { class: "live-paper", role: "img" }),
          list = oneStop(
            make("p", { class: "live-buttons", role: "group", "aria-label": "Words: arrow keys and Enter choose one" }),
            steps.length,
          ),
          places = LIVE.placesOf(wordsOf(steps)),
          here = () => LIVE.wordAt(wordsOf(steps), state.step);
        shows.push(() => {
          const step = steps[here()];
          canvas.hidden = !step;
          if (step) {
            const framed = LIVE.digitsOf(state.placed).filter(({ digit }) => nameOf(digit) === step.word);
            LIVE.paintWeights(canvas, image, step, framed);
            canvas.setAttribute("aria-label", title + ": where it attends while it writes “" + step.word + "”");
          }
          Array.from(list.children, (button, i) => button.setAttribute("aria-pressed", String(i === here())));
        });
        list.append(
          ...steps.map(({ word }, n) =>
            make(
              "button",
              {
                type: "button",
                tabindex: n === Math.max(0, here()) ? 0 : -1,
                "aria-label": "word " + (n + 1) + ": " + word,
                onclick: () => go(places[n]),
              },
              word,
            ),
          ),
        );
        return make("div", {}, make("p", { class: "live-head" }, title), list, canvas);
      }
      function go(step) {
        kept({ step });
        tell();
      }
      // The places of both captions in order, each once.
      function walk(by) {
        const all = [...new Set(Object.values(runs).flatMap((steps) => LIVE.placesOf(wordsOf(steps))))].sort((a, b) => a - b),
          at = all.indexOf(state.step);
        go(all[Math.max(0, Math.min(all.length - 1, at + by))]);
      }

      function tell() {
        shows.forEach((show) => show());
        const ended = Object.values(runs).some((steps) => stepOf(steps)?.word === "(end)"),
          where = ended ? "the end of a caption" : LIVE.placeInWords(state.step);
        both.textContent = "Both captions at " + where;
        const told = Object.entries(runs).map(([name, steps]) => {
          const begins = name + " attention writes “" + LIVE.captionOf(steps) + "”",
            step = stepOf(steps);
          if (!step) {
            return begins + ", which has ended before";
          }
          const { word, weights, location } = step,
            [most] = largest(weights, 1),
            under = (cell) => LIVE.below(state.placed, state.ink, cell),
            called = (one) => (one < 0 ? "what the pen drew" : "the " + nameOf(one)),
            on = (cell) => "at " + (under(cell).map(called).join(" and ") || "no digit");
          const read = state.drawn === "drawn" && location >= 0 ? ", and the drawn cell " + on(location) : "",
            elsewhere = DIGITS.includes(word) && !under(most).some((one) => one < 0 || nameOf(one) === word);
          return (
            begins +
            "; at “" +
            word +
            "” its largest weight, " +
            percent(weights[most]) +
            ", lies " +
            on(most) +
            (elsewhere ? ", and not at the digit named" : "") +
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
          const text = LIVE.captionOf(runs.Hard);
          counts.set(text, (counts.get(text) || 0) + 1);
        }
        const all = [...counts].sort((a, b) => b[1] - a[1]),
          total = all.reduce((sum, [, count]) => sum + count, 0);
        counted.textContent =
          (total === 1 ? "One caption so far, with" : total + " captions so far, each with") +
          " newly drawn positions: " +
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
        if (!Object.values(runs).some(stepOf)) {
          kept({ step: 1 }); // neither caption is so long
        }
        tell();
      }
      function run() {
        image = LIVE.canvasOf(state.placed, state.ink);
        starts = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, model.start(image, LIVE.CANVAS.SIDE)]));
        runs = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, LIVE.captioned(model, image, starts[name])]));
        counts.clear();
        counted.textContent = "";
        refill(
          draws,
          state.drawn === "drawn" ? buttons(["Draw once more", () => drawAgain(1)], ["Draw twenty more", () => drawAgain(20)]) : null,
        );
        board.draw(image);
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
        board.tell();
        kept({ placed: [], ink: [] });
        run();
      };
      const anywhere = () => Math.floor(chance() * (LIVE.CANVAS.SIDE - LIVE.CANVAS.WIDE + 1));
      room.append(
        both,
        buttons(["One word back", () => walk(-1)], ["Next word of both", () => walk(1)]),
        choice("Hard attention reads", readings, state.drawn, (drawn) => {
          kept({ drawn });
          run();
        }),
        draws,
        counted,
        results,
        said.element,
        make("p", { class: "live-head" }, "The canvas"),
        make(
          "div",
          { class: "live-view" },
          board.element,
          make(
            "div",
            {},
            choice("Tool", tools, state.tool, (tool) => {
              kept({ tool });
              board.moveIn();
            }),
            slider("Digit", { from: 0, to: 9, step: 1, value: state.digit }, (digit) => kept({ digit })),
            buttons(["Place it anywhere", () => board.place(anywhere(), anywhere())], ["Clear the canvas", clear]),
          ),
        ),
      );
      run();
    },
  });
})(globalThis);
