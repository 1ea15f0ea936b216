// Bahdanau's model on the reader's own numbers: step by step, where it attends, and what it writes if it must attend elsewhere.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, buttons, entry, words, percent, largest, softmax } = LIVE;
  const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
  const MOST = 10; // numbers in a list; the model has seen one to six

  // What the model writes greedily. `forced`: { step, key }, where that step must give all its weight to one source word.
  LIVE.aligned = function (model, source, forced) {
    let state = model.start(source),
      token = LIVE.BOS;
    const steps = [];
    while (token !== LIVE.EOS && steps.length < 60) {
      const set = forced && forced.step === steps.length ? source.map((_, k) => Number(k === forced.key)) : undefined;
      const step = model.step(token, state, set);
      state = step.state;
      [token] = largest(step.logits, 1);
      steps.push({ token, weights: Array.from(step.weights), chances: softmax(step.logits) });
    }
    return steps;
  };
  LIVE.figure("aligner", {
    title: "A translator of numbers, step by step",
    todo: "Walk through the written words with the arrow keys and watch where each attends. Press a source word to give it all the weight in this step: does the written word change? Then write more numbers: six, seven, eight.",
    learned:
      "Digits and tens attend to the words that they translate, and the weights cross where German puts the units first; “hundert” mostly does. If a number word must attend to another number, it translates that one instead: the context decides. “hundert” is written all the same, and “und” mostly, because the decoder's state knows that they come. The model saw lists of one to six numbers; with six it sometimes leaves one out, with eight it always loses its position, and leaves numbers out or repeats them.",
    about:
      "The model of Chapter 2: a GRU in both directions with additive attention, 194,000 numbers (eight bits each here), trained on lists of one to six numbers below a thousand.",
    packs: ["numbers"],
    defaults: { numbers: [342, 7, 85], step: 0, forced: -1, key: 0 },
    draw(room, state, kept, pack) {
      const model = LIVE.AttentionSeq2Seq(pack),
        output = make("p", { class: "live-text", lang: "de" }),
        check = make("p", { class: "live-before" });
      const board = make("div", {}),
        options = make("div", {}),
        said = words(),
        again = make("div", {});
      let steps = [],
        source = [];

      function show() {
        source = english(state.numbers);
        steps = LIVE.aligned(
          model,
          source.map((word) => ENGLISH.indexOf(word)),
          state.forced < 0 ? null : { step: state.forced, key: state.key },
        );
        const written = steps.filter((step) => step.token !== LIVE.EOS).map((step) => GERMAN[step.token]),
          wanted = german(state.numbers);
        output.textContent = written.join(" ");
        const wrong = written.filter((word, i) => word !== wanted[i]).length + Math.max(0, wanted.length - written.length);
        check.textContent =
          (wrong ? "Right would be: " + wanted.join(" ") : "This is right.") +
          (state.numbers.length > 6 ? " In training it saw at most six numbers." : "");
        const links = LIVE.links({
          queries: [...written, ...(steps[steps.length - 1].token === LIVE.EOS ? ["(end)"] : [])],
          keys: source,
          weights: steps.map((step) => step.weights),
          languages: ["de", "en"],
          chose,
          picked: force,
        });
        board.replaceChildren(links.element);
        again.replaceChildren(
          buttons(
            ...(state.forced < 0
              ? []
              : [
                  [
                    "Let the model choose its weights again",
                    () => {
                      kept({ forced: -1 });
                      show();
                    },
                  ],
                ]),
          ),
        );
        links.choose(Math.min(state.step, steps.length - 1));
      }

      function force(key) {
        kept({ forced: state.step, key });
        show();
        board.querySelectorAll("ol button")[key].focus();
      }

      function chose(step) {
        kept({ step });
        const { weights, chances, token } = steps[step],
          name = (number) => (number === LIVE.EOS ? "(end)" : GERMAN[number]);
        options.replaceChildren(
          LIVE.bars(
            "The next word, by probability",
            largest(chances, 4).map((number) => [name(number) + (number === token ? " ✓" : ""), chances[number], percent(chances[number])]),
          ),
        );
        const most = largest(weights, 2)
          .map((k) => "“" + source[k] + "” " + percent(weights[k]))
          .join(", ");
        said.say(
          "Step " +
            (step + 1) +
            ": " +
            (state.forced === step ? "it must attend to “" + source[state.key] + "” alone, " : "it attends to " + most + ", ") +
            "and writes “" +
            name(token) +
            "” with probability " +
            percent(chances[token]) +
            ".",
        );
      }

      const line = entry(
        "Numbers from 0 to 999, with commas",
        {
          value: state.numbers.join(", "),
          button: "Translate",
          most: 60,
          examples: ["42, 7", "21, 12, 112", "800, 1, 99", "11, 22, 33, 44, 55, 66, 77, 88"],
        },
        (text) => {
          const numbers = LIVE.numbersIn(text, MOST);
          if (!numbers) {
            return "Please write one to ten whole numbers from 0 to 999, with commas between them.";
          }
          kept({ numbers, step: 0, forced: -1 });
          show();
          return "";
        },
      );
      room.append(
        line.element,
        output,
        check,
        make(
          "div",
          { class: "live-view" },
          make("div", {}, make("p", { class: "live-head" }, "Written words, and the source"), board, again),
          make("div", {}, said.element, options),
        ),
      );
      show();
    },
  });
})(globalThis);
