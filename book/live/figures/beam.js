// Beam search on the translator, one step at a time: what is kept, what is dropped, and what greedy search would have taken.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, entry, words, signed } = LIVE;
  const EXAMPLES = [
    "Zwei Kinder spielen im Schnee mit einem roten Schlitten.",
    "Ein Mann repariert das Dach eines kleinen Hauses.",
    "Eine Frau mit Hut liest auf einer Bank ein Buch.",
  ];

  LIVE.figure("beam", {
    title: "Beam search, step by step",
    todo: "Press “Next step” and watch which beginnings are kept (framed) and which are dropped. At the end compare the result with greedy search, in the first example and in the others. Then change the width and the length penalty.",
    learned:
      "A beginning that is best now may be dropped some steps later, because what follows it is less probable; greedy search can't go back. For most sentences of this model greedy search finds the same text, and where it doesn't, the beam's text is only a little more probable. The penalty α matters when texts of different lengths compete, which is rare here.",
    about:
      "The translator of Chapter 18 with eight bits per number. Numbers: log-probability, and the rank after the length penalty of Wu et al. (2016).",
    packs: ["translator"],
    defaults: { sentence: EXAMPLES[0], width: 3, alpha: 0.6, steps: 1 },
    draw(room, state, kept, pack) {
      const source = LIVE.BytePairs(pack.pieces.source),
        target = LIVE.BytePairs(pack.pieces.target),
        model = LIVE.Transformer(pack);
      const board = make("ol", { class: "live-beams" }),
        said = words(),
        greedy = make("p", { class: "live-before" }),
        controls = make("div", {});
      const text = (tokens) => target.decode(tokens.filter((token) => token !== LIVE.EOS).map((token) => target.pieces[token]));
      const piece = (token) => (token === LIVE.EOS ? " (end)" : target.pieces[token].replace("▁", " "));
      let all = [];

      function row(one, isKept) {
        const ended = one.gained === 0 && one.ended;
        return make(
          "li",
          { class: isKept ? "is-kept" : null },
          make("span", {}, "from " + (one.parent + 1)),
          make("span", { lang: "en" }, text(one.tokens.slice(0, -1)), make("mark", {}, ended ? " ✓" : piece(one.last))),
          make("b", {}, signed(one.total)),
          make("b", {}, signed(one.rank)),
        );
      }

      function show() {
        const at = Math.min(state.steps, all.length),
          { kept: best, considered } = all[at - 1],
          shown = new Set(best);
        board.replaceChildren(
          make(
            "li",
            { class: "is-head" },
            make("span", {}, "parent"),
            make("span", {}, "beginning"),
            make("b", {}, "log p"),
            make("b", {}, "rank"),
          ),
          ...considered.slice(0, 2 * state.width + 2).map((one) => row(one, shown.has(one))),
        );
        controls.querySelectorAll("button").forEach((button, i) => (button.disabled = i < 2 ? at === all.length : at === 1));
        said.say(
          (at === all.length ? "Finished after " + at + " steps: " : "Step " + at + " of " + all.length + ", best so far: ") +
            "“" +
            text(best[0].tokens) +
            "”, log-probability " +
            signed(best[0].total) +
            ", " +
            considered.length +
            " beginnings considered, " +
            best.length +
            " kept.",
        );
      }
      const go = (steps) => {
        kept({ steps: Math.max(1, Math.min(all.length, steps)) });
        show();
      };

      function search() {
        const start = model.start(source.numbers(source.encode(state.sentence)));
        all = [...LIVE.beamSteps(model, start, { width: state.width, alpha: state.alpha })];
        const one = LIVE.write(model, start, { width: 1, alpha: state.alpha });
        greedy.textContent =
          "Greedy search writes “" +
          text(one.tokens) +
          "”, log-probability " +
          signed(one.kept[0].total) +
          "; the beam ends with “" +
          text(all[all.length - 1].kept[0].tokens) +
          "”, " +
          signed(all[all.length - 1].kept[0].total) +
          ".";
        show();
      }

      controls.append(
        buttons(
          ["Next step", () => go(state.steps + 1)],
          ["To the end", () => go(Infinity)],
          ["One step back", () => go(Math.min(state.steps, all.length) - 1)],
        ),
      );
      const line = entry(
        "A German sentence about a photograph",
        { value: state.sentence, lang: "de", most: 160, button: "Begin", examples: EXAMPLES },
        (sentence) => {
          if (!sentence.trim()) {
            return "Please write a German sentence first.";
          }
          kept({ sentence, steps: 1 });
          search();
          return "";
        },
      );
      room.append(
        line.element,
        slider("Width of the beam", { from: 1, to: 8, step: 1, value: state.width }, (width) => {
          kept({ width, steps: 1 });
          search();
        }),
        slider("Length penalty α", { from: 0, to: 1.5, step: 0.1, value: state.alpha, shown: (n) => n.toFixed(1) }, (alpha) => {
          kept({ alpha, steps: 1 });
          search();
        }),
        controls,
        board,
        said.element,
        greedy,
      );
      search();
    },
  });
})(globalThis);
