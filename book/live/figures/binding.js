// Two layers written by hand: the first binds each colour to a word, the second finds the bound word of the last step.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent, signed, softmax, refill } = LIVE;
  const NAMES = ["horse", "cup", "door", "tree", "moon"],
    COLOURS = ["green", "red", "blue", "yellow"],
    SHARP = 10, // a query is ten times as long as a key
    LAST = 3; // the step that asks

  // The words of all steps, and the colours that they show (−1: none), of a state of this figure.
  LIVE.linesOf = ({ words, colours, asked, late }) => ({
    steps: [...words, words[asked]],
    shown: [0, 1, 2, LAST].map((t) => (t < late ? -1 : colours[t - late])),
  });

  const only = (at, scale = 1) => Float64Array.from(NAMES, (_, n) => (n === at ? scale : 0));
  const mixed = (weights, vectors) => only(-1).map((_, n) => weights.reduce((sum, weight, s) => sum + weight * vectors[s][n], 0));
  const weightsOf = (scores) => Array.from(softmax(Float64Array.from(scores)));

  // The key of each step: what layer 1 writes there or, without it, the step's own word. Then scores and weights of the last step, and how much of each colour it names.
  LIVE.bindAndFind = function (state) {
    const { steps, shown } = LIVE.linesOf(state),
      { bind, a, c, dilation } = state,
      vectors = steps.map((word) => only(word));
    const byHead = (t) =>
      mixed(weightsOf(vectors.slice(0, t + 1).map((_, s) => (s === Math.max(t - 1, 0) ? SHARP : 0))), vectors.slice(0, t + 1));
    const byTaps = (t) => mixed([c, ...(t < dilation ? [] : [a])], [vectors[t], vectors[t - dilation]]);
    const keys = steps.map((_, t) => (bind === "head" ? byHead(t) : bind === "convolution" ? byTaps(t) : vectors[t]));
    const scores = keys.map((vector) => SHARP * vector[steps[LAST]]),
      weights = weightsOf(scores);
    const named = COLOURS.map((_, n) => weights.reduce((sum, weight, s) => sum + (shown[s] === n ? weight : 0), 0));
    return { steps, shown, keys, scores, weights, named };
  };

  // 0.5 cup + 0.5 door; what rounds to nothing is left out.
  const keyInWords = (vector) =>
    Array.from(vector, (part, n) => [Math.round(100 * part) / 100, NAMES[n]])
      .filter(([part]) => part !== 0)
      .map(([part, name]) => (part === 1 ? name : signed(part, Number.isInteger(10 * part) ? 1 : 2) + " " + name))
      .join(" + ") || "–";

  LIVE.figure("binding", {
    title: "Bind with layer 1, find with layer 2",
    todo: "The start is the network with two heads. Switch layer 1 to nothing, so that each key is the step's own word: which colours does the last cup receive? Then take the convolution and raise the tap c from 0 to 1: how many keys hold cup now? At last set c back to 0 and let the colours come two steps late. Which dilation names red again? Press a word or a colour to change it.",
    learned:
      "With nothing bound, the last cup finds the steps 1 and 3, where cup stands, so green and blue have 50 % each. With the taps a = 1 and c = 1, each key is the sum of the own word and the bound one: three keys hold cup, and green, red and blue have 33 % each. (Learned matrices could write the two words in different directions, so that layer 2 can tell them apart.) When the colours come two steps late, the head and the convolution with dilation 1 still bind the step before, so they name green. With dilation 2 the colour red is bound to cup again. The network follows other words and colours at once, and no weight changes.",
    about:
      "Nothing is trained here: the figure computes the two layers of the page by hand, with queries that are ten times as long as the keys.",
    defaults: { words: [0, 1, 2], colours: [0, 1, 2], asked: 1, late: 1, bind: "head", a: 1, c: 0, dilation: 1 },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", {}),
        taps = make("div", {});

      // The list with its entry `at` moved on to the next of so many that isn't taken.
      const next = (list, at, most, taken = []) => {
        let one = (list[at] + 1) % most;
        while (taken.includes(one)) {
          one = (one + 1) % most;
        }
        return list.toSpliced(at, 1, one);
      };
      const changed = (changes) => {
        kept(changes);
        show();
      };
      const press = (name, text, act) =>
        make("button", { type: "button", "aria-label": name + ": " + text + ", change it", onclick: act }, text);

      function wordOf(t, word) {
        const act = () =>
          changed(t === LAST ? { asked: (state.asked + 1) % LAST } : { words: next(state.words, t, NAMES.length, state.words) });
        return press(t === LAST ? "word that is asked" : "word of step " + t, NAMES[word], act);
      }
      function colourOf(t, colour) {
        const act = () => changed({ colours: next(state.colours, t - state.late, COLOURS.length) });
        return colour < 0 ? "–" : press("colour of step " + t, COLOURS[colour], act);
      }

      function show() {
        const { steps, shown, keys, scores, weights, named } = LIVE.bindAndFind(state);
        const head = ["step", "word", "colour shown", "key", "score", "weight"].map((name) => make("th", { scope: "col" }, name));
        const row = (word, t) =>
          make(
            "tr",
            { style: "--w:" + weights[t].toFixed(3) },
            make("th", { scope: "row" }, String(t)),
            make("td", {}, wordOf(t, word)),
            make("td", {}, colourOf(t, shown[t])),
            make("td", {}, keyInWords(keys[t])),
            make("td", {}, signed(scores[t], 1)),
            make("td", { class: "bar" }, make("span", {}, percent(weights[t]).replace(" ", "\u00a0"))),
          );
        refill(
          board,
          make("table", { class: "live-table" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, steps.map(row))),
          LIVE.bars(
            "Step 3 names",
            COLOURS.map((name, n) => [name, named[n], percent(named[n])]),
          ),
        );
        taps.hidden = state.bind !== "convolution";
        const most = Math.max(...named),
          best = COLOURS.filter((_, n) => most - named[n] < 0.01),
          wanted = COLOURS[state.colours[state.asked]],
          visible = state.asked + state.late <= LAST;
        const found = weights.flatMap((weight, t) => (weight > 0.2 ? ["step " + t + " (" + percent(weight) + ")"] : []));
        said.say(
          "The last “" +
            NAMES[steps[LAST]] +
            "” attends to " +
            found.join(", ") +
            ". " +
            (most < 0.01
              ? "It names no colour."
              : best.length > 1
                ? "It names " + best.join(" and ") + " with " + percent(most) + " each."
                : "It names " + best[0] + " with " + percent(most) + ".") +
            " The colour of its line is " +
            wanted +
            (visible ? "." : ", which no step has shown yet."),
        );
      }
      const layers = [
        ["nothing", "nothing"],
        ["head", "a head"],
        ["convolution", "a convolution"],
      ];
      const steps = [
        [1, "1"],
        [2, "2"],
      ];
      const tap = (name, text) =>
        slider(text, { from: -1, to: 1, step: 0.1, value: state[name], shown: (n) => signed(n, 1) }, (value) => changed({ [name]: value }));
      taps.append(
        tap("a", "tap a, of the earlier step"),
        tap("c", "tap c, of the step itself"),
        choice("Dilation", steps, state.dilation, (dilation) => changed({ dilation })),
      );
      room.append(
        choice("Layer 1 is", layers, state.bind, (bind) => changed({ bind })),
        taps,
        choice("Steps until a colour is shown", steps, state.late, (late) => changed({ late })),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
