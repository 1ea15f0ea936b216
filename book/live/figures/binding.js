// Two layers written by hand: the first binds each token to the one before it, the second finds the bound token of the last step.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent, signed, softmax, refill } = LIVE;
  const NAMES = ["horse", "cup", "door", "tree", "moon"],
    COLOURS = ["green", "red", "blue"],
    TOKENS = [...NAMES, ...COLOURS],
    SHARP = 10, // a query is ten times as long as a key
    LAST = 6; // the step that asks

  // The tokens of a state of this figure, as numbers in TOKENS: three words, each before its colour, and the word that is asked.
  LIVE.tokensOf = ({ words, colours, asked }) => [...words.flatMap((word, i) => [word, NAMES.length + colours[i]]), words[asked]];

  const only = (at) => Float64Array.from(TOKENS, (_, n) => (n === at ? 1 : 0));
  const mixed = (weights, vectors) => only(-1).map((_, n) => weights.reduce((sum, weight, s) => sum + weight * vectors[s][n], 0));
  const weightsOf = (scores) => Array.from(softmax(Float64Array.from(scores)));

  // The key of each step: what layer 1 writes there or, without it, the step's own token. Then scores and weights of the last step, and how much of each token it names.
  LIVE.bindAndFind = function (state) {
    const tokens = LIVE.tokensOf(state),
      { bind, a, c } = state,
      vectors = tokens.map((token) => only(token));
    const byHead = (t) =>
      mixed(weightsOf(vectors.slice(0, t + 1).map((_, s) => (s === Math.max(t - 1, 0) ? SHARP : 0))), vectors.slice(0, t + 1));
    const byTaps = (t) => mixed([c, ...(t < 1 ? [] : [a])], [vectors[t], vectors[t - 1]]);
    const keys = tokens.map((_, t) => (bind === "head" ? byHead(t) : bind === "convolution" ? byTaps(t) : vectors[t]));
    const scores = keys.map((vector) => SHARP * vector[tokens[LAST]]),
      weights = weightsOf(scores);
    return { tokens: tokens.map((token) => TOKENS[token]), keys, scores, weights, named: Array.from(mixed(weights, vectors)) };
  };

  // 0.5 cup + 0.5 door; what rounds to nothing is left out.
  const keyInWords = (vector) =>
    Array.from(vector, (part, n) => [Math.round(100 * part) / 100, TOKENS[n]])
      .filter(([part]) => part !== 0)
      .map(([part, name]) => (part === 1 ? name : signed(part, Number.isInteger(10 * part) ? 1 : 2) + " " + name))
      .join(" + ") || "–";

  LIVE.figure("binding", {
    title: "Bind with layer 1, find with layer 2",
    todo: "The start is the network with two heads. Switch layer 1 to nothing, so that each key is the step's own token: which token does the last cup receive? Then take the convolution and raise the tap c from 0 to 1: how many keys hold cup now? Press a token to change it.",
    learned:
      "With nothing bound, the last cup finds the two tokens cup, with 50 % each, so it names cup. With the taps a = 1 and c = 1, each key is the sum of the own token and the bound one: three keys hold cup, with 33 % each, so cup is named with 67 % and red with 33 %. (Learned matrices could write the two tokens in different directions, so that layer 2 can tell them apart.) The network follows other words and colours at once, and no weight changes.",
    about:
      "Nothing is trained here: the figure computes the two layers of the page by hand, with queries that are ten times as long as the keys.",
    defaults: { words: [0, 1, 2], colours: [0, 1, 2], asked: 1, bind: "head", a: 1, c: 0 },
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

      function tokenOf(t, token) {
        const line = Math.floor(t / 2);
        const act = () =>
          changed(
            t === LAST
              ? { asked: (state.asked + 1) % 3 }
              : t % 2
                ? { colours: next(state.colours, line, COLOURS.length) }
                : { words: next(state.words, line, NAMES.length, state.words) },
          );
        return press(t === LAST ? "token that is asked" : "token of step " + t, token, act);
      }

      function show() {
        const { tokens, keys, scores, weights, named } = LIVE.bindAndFind(state);
        const head = ["step", "token", "key", "score", "weight"].map((name) => make("th", { scope: "col" }, name));
        const row = (token, t) =>
          make(
            "tr",
            { style: "--w:" + weights[t].toFixed(3) },
            make("th", { scope: "row" }, String(t)),
            make("td", {}, tokenOf(t, token)),
            make("td", {}, keyInWords(keys[t])),
            make("td", {}, signed(scores[t], 1)),
            make("td", { class: "bar" }, make("span", {}, percent(weights[t]).replace(" ", "\u00a0"))),
          );
        const share = (token) => named[TOKENS.indexOf(token)],
          there = [...new Set(tokens)];
        refill(
          board,
          make("table", { class: "live-table" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, tokens.map(row))),
          LIVE.bars(
            "Step 6 names",
            there.map((token) => [token, share(token), percent(share(token))]),
          ),
        );
        taps.hidden = state.bind !== "convolution";
        const most = Math.max(...named),
          best = there.filter((token) => most - share(token) < 0.01),
          found = weights.flatMap((weight, t) => (weight > 0.2 ? ["step " + t + " (" + percent(weight) + ")"] : []));
        said.say(
          "The last “" +
            tokens[LAST] +
            "” attends " +
            (found.length ? "to " + found.join(", ") : "to many steps") +
            ". It names " +
            best.join(" and ") +
            " with " +
            percent(most) +
            (best.length > 1 ? " each" : "") +
            ". The token after the earlier “" +
            tokens[LAST] +
            "” is " +
            COLOURS[state.colours[state.asked]] +
            ".",
        );
      }
      const layers = [
        ["nothing", "nothing"],
        ["head", "a head"],
        ["convolution", "a convolution"],
      ];
      const tap = (name, text) =>
        slider(text, { from: -1, to: 1, step: 0.1, value: state[name], shown: (n) => signed(n, 1) }, (value) => changed({ [name]: value }));
      taps.append(tap("a", "tap a, of the step before"), tap("c", "tap c, of the step itself"));
      room.append(
        choice("Layer 1 is", layers, state.bind, (bind) => changed({ bind })),
        taps,
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
