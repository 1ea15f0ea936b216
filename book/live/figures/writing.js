// Four decoders of Chapter 4 write eight numbers, word by word: where each attends, its window, and its first wrong word.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, choice, slider, buttons, words } = LIVE;
  const HALF = 2, // half-width of the windows
    MODELS = [
      ["global", "global"],
      ["local_m", "local-m"],
      ["local_p", "local-p"],
      ["walking", "walking"],
    ];

  LIVE.figure("writing", {
    title: "Four decoders write eight numbers",
    todo: "Press “Next word” until the global decoder writes its first wrong word: to which number does it attend there, and to which should it? Then choose another model: which of them writes all eight numbers?",
    learned:
      "The global decoder fails at word 9: it should attend to “five” of eighty five, but “nine” of twenty nine has the largest weight, 53 %. Local-p fails at word 7, where its centre is already near “four”. Local-m fails at word 18: its window has run ahead. Only walking writes all eight numbers; its centre never goes back and moves on by small steps.",
    about:
      "The models of the chapter’s file after 600 steps (seed 0), trained on lists of one to five numbers. Each reads its own words. What they did is recorded; no network runs here.",
    defaults: { model: "global", word: 1 },
    draw(room, state, kept) {
      const { source, right, steps } = LIVE.writers;
      const said = words(),
        dials = make("div", {}),
        english = make("p", { class: "live-answer", lang: "en", style: "line-height: 2.3" }),
        german = make("p", { class: "live-answer", lang: "de", style: "line-height: 1.9" });
      const line = () => steps[state.model],
        at = () => Math.min(state.word, line().length) - 1;

      // A source word: a frame if the model may attend to it, and below it a bar as long as its weight.
      function chip(word, j, { weights, centre }) {
        const inside = state.model === "global" || Math.abs(j - centre) <= HALF,
          weight = weights[j];
        const look =
          "display: inline-block; margin: 0 0.15rem 0.2rem 0; padding: 0 0.4rem; line-height: 1.7; border-radius: 0.3rem; border: 1px " +
          (inside ? "solid var(--pst-color-text-base); " : "dashed var(--pst-color-border); ") +
          "background: linear-gradient(var(--pa-blue), var(--pa-blue)) left bottom / " +
          (100 * Math.min(1, weight)).toFixed(0) +
          "% 0.3rem no-repeat";
        return make("span", { style: look }, word, weight >= 0.05 ? make("b", {}, " " + Math.round(100 * weight) + "\u00a0%") : null);
      }

      function show() {
        const step = line()[at()],
          fine = step.word === right[at()],
          largest = step.weights.indexOf(Math.max(...step.weights));
        refill(english, ...source.map((word, j) => chip(word, j, step)));
        refill(
          german,
          ...line()
            .slice(0, at() + 1)
            .flatMap(({ word }, t) => [word === right[t] ? make("span", {}, word) : make("mark", {}, word + " ×"), " "]),
        );
        said.say(
          "Word " +
            (at() + 1) +
            ": the model writes “" +
            step.word +
            "”" +
            (fine ? ", which is right. " : "; right would be “" + right[at()] + "”. ") +
            "The largest weight, " +
            Math.round(100 * step.weights[largest]) +
            " %, is on “" +
            source[largest] +
            "” (position " +
            largest +
            ")." +
            (state.model === "global" ? "" : " The centre is at " + step.centre.toFixed(1) + "."),
        );
      }

      function go(word) {
        kept({ word: Math.max(1, Math.min(line().length, word)) });
        dial();
        show();
      }

      function dial() {
        const range = { from: 1, to: line().length, step: 1, value: at() + 1 };
        const moved = (word) => {
          kept({ word });
          show();
        };
        refill(dials, buttons(["Next word", () => go(at() + 2)], ["Word before", () => go(at())]), slider("Word", range, moved));
      }

      const choose = (model) => {
        kept({ model, word: 1 });
        dial();
        show();
      };
      room.append(
        choice("Model", MODELS, state.model, choose),
        dials,
        make("p", { class: "live-head" }, "The source: weights, and a solid frame around each word that may be attended to"),
        english,
        make("p", { class: "live-head" }, "Written so far"),
        german,
        said.element,
      );
      dial();
      show();
    },
  });
})(globalThis);
