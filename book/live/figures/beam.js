// Beam search on the translator, one step at a time: what is kept, what is dropped, and what greedy search would have taken.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, entry, words, counted, signed } = LIVE;
  const EXAMPLES = [
    "Zwei Kinder spielen im Schnee mit einem roten Schlitten.",
    "Ein Mann repariert das Dach eines kleinen Hauses.",
    "Eine Frau mit Hut liest auf einer Bank ein Buch.",
    "Zwei Männer in roten Jacken steigen eine verschneite Treppe hinauf.",
  ];

  // Where the beginning of another text stands among `hypotheses`, from 0; −1 if it isn't among them.
  LIVE.placeOf = (tokens, hypotheses) => hypotheses.findIndex((one) => one.tokens.join() === tokens.slice(0, one.tokens.length).join());

  LIVE.figure("beam", {
    title: "Beam search, step by step",
    todo: "Press “Next step” and watch which beginnings are kept (framed). The one that greedy search would have is marked: in which step does another one overtake it? Compare the ends. Then set α to 1.5, and try the fourth example with the widths 2 and 3.",
    learned:
      "In the first sentence greedy search writes “play”, the more probable word in step 3. From step 4 on other beginnings lead, because what follows them is more probable, and greedy search can't go back: it ends with −2.82, the beam with −2.67. With α = 1.5 the longer text with “are” wins, although it is less probable (−2.86). In the second and third example both find the same text. In the fourth a beam of two drops the beginning of greedy search, and ends with a less probable text than it (−5.35 against −4.81); with a width of three the beam finds a more probable one (−4.76). So a wider beam can help, and it can harm.",
    about:
      "The translator of Chapter 18 with eight bits per number. Log p is the log-probability of a beginning; the score is log p after the length penalty of Wu et al. (2016), by which the rows are sorted.",
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
      let all = [],
        one = null; // the text of greedy search

      function row(one, isKept, isGreedy) {
        const ended = one.gained === 0 && one.ended;
        return make(
          "li",
          { class: isKept ? "is-kept" : null },
          make("span", {}, "from " + (one.parent + 1)),
          make(
            "span",
            { lang: "en" },
            text(one.tokens.slice(0, -1)),
            make("mark", {}, ended ? " (ended before)" : piece(one.last)),
            isGreedy ? make("i", {}, " greedy") : null,
          ),
          make("b", {}, signed(one.total)),
          make("b", {}, signed(one.rank)),
        );
      }

      function show() {
        const at = Math.min(state.steps, all.length),
          { kept: best, considered } = all[at - 1],
          seen = considered.slice(0, 2 * state.width + 2),
          framed = new Set(best),
          { tokens } = one.kept[0],
          greedyAt = LIVE.placeOf(tokens, considered);
        board.replaceChildren(
          make(
            "li",
            { class: "is-head" },
            make("span", {}, "parent"),
            make("span", {}, "beginning"),
            make("b", {}, "log p"),
            make("b", {}, "score"),
          ),
          ...seen.map((one, i) => row(one, framed.has(one), i === greedyAt)),
        );
        // They aren't disabled, because a disabled button loses the focus.
        controls.querySelectorAll("button").forEach((button, i) => {
          button.setAttribute("aria-disabled", String(i < 2 ? at === all.length : at === 1));
        });
        const lost = all.findIndex((step) => LIVE.placeOf(tokens, step.kept) < 0) + 1;
        const place = LIVE.placeOf(tokens, best);
        said.say(
          (at === all.length ? "Finished after " + counted(at, "step") + ": " : "Step " + at + " of " + all.length + ", best so far: ") +
            "“" +
            text(best[0].tokens) +
            "”, log-probability " +
            signed(best[0].total) +
            ", " +
            counted(considered.length, "beginning") +
            " considered" +
            (seen.length < considered.length ? " (the best " + seen.length + " are shown), " : ", ") +
            best.length +
            " kept. The beginning of greedy search " +
            (place === 0 ? "is the best one." : place > 0 ? "stands in row " + (place + 1) + "." : "was dropped in step " + lost + "."),
        );
        greedy.textContent =
          at < all.length
            ? ""
            : "Greedy search writes “" +
              text(tokens) +
              "”, log-probability " +
              signed(one.kept[0].total) +
              "; the beam " +
              against(best[0]);
      }
      const against = ({ tokens, total }) =>
        tokens.join() === one.kept[0].tokens.join()
          ? "writes the same."
          : "writes a text that is " + (total > one.kept[0].total ? "more" : "less") + " probable, " + signed(total) + ".";
      const go = (steps) => {
        kept({ steps: Math.max(1, Math.min(all.length, steps)) });
        show();
      };

      // Another search, at the step of the one before; where that was at its end, at the end.
      function searchAgain(changes) {
        const ended = state.steps >= all.length;
        kept(changes);
        search();
        go(ended ? Infinity : state.steps);
      }

      function search() {
        const start = model.start(source.numbers(source.encode(state.sentence)));
        all = [...LIVE.beamSteps(model, start, { width: state.width, alpha: state.alpha })];
        one = LIVE.write(model, start, { width: 1, alpha: state.alpha });
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
          return LIVE.doubts(source, sentence);
        },
      );
      room.append(
        line.element,
        slider("Width of the beam", { from: 1, to: 8, step: 1, value: state.width }, (width) => searchAgain({ width })),
        slider("Length penalty α", { from: 0, to: 1.5, step: 0.1, value: state.alpha, shown: (n) => n.toFixed(1) }, (alpha) =>
          searchAgain({ alpha }),
        ),
        controls,
        board,
        said.element,
        greedy,
      );
      search();
    },
  });
})(globalThis);
