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

  // What the keys are, by what layer 1 is.
  const WRITES = {
    nothing: "Layer 1 writes nothing, so each key is the step's own token.",
    head: "Layer 1 copies the token before, and this bound token is the key. Before step 0 there is none, so step 0 copies itself.",
    convolution: "Layer 1 adds a times the token before and c times the own token: this sum is the key. Before step 0 stands nothing (–).",
  };
  const QUERY = "Each score is a key times the query of step 6, 10 · "; // and its token
  const WIDTHS = ["11%", "23%", "29%", "14%", "23%"]; // the columns stay where they are when keys grow longer

  LIVE.figure("binding", {
    title: "Bind with layer 1, find with layer 2",
    todo: "Which token does the last cup name when both taps are 1? Decide, then press “a convolution”, and count the keys that hold cup. Which tap must become 0, so that the answer is right again?",
    learned:
      "With the taps a = 1 and c = 1, three keys hold cup, so the last cup finds three steps, with 33 % each. Two of them show cup, so cup is named with 67 % and red with 33 %. With c = 0, only the key of red holds cup, as with the head. With nothing bound, the last cup finds the two tokens cup, with 50 % each, so it names cup. (Learned matrices could write the two tokens in different directions, so that layer 2 can tell them apart.)",
    about:
      "Nothing is trained here: the figure computes the two layers of the page by hand. Press a token to change it: the network follows other words and colours at once, and no weight changes.",
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
        const key = state.bind === "nothing" ? "key: own token" : "key: bound token";
        const head = ["step", "token", key, "score", "weight"].map((name, at) =>
          make("th", { scope: "col", style: "width: " + WIDTHS[at] }, name),
        );
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
          make("p", { style: "margin: 0.6rem 0 0" }, WRITES[state.bind] + " " + QUERY + tokens[LAST] + "."),
          make(
            "table",
            { class: "live-table", style: "table-layout: fixed; width: 100%" },
            make("thead", {}, make("tr", {}, head)),
            make("tbody", {}, tokens.map(row)),
          ),
          LIVE.bars(
            "Step 6 names (the weights of equal tokens, added)",
            there.map((token) => [token, share(token), percent(share(token))]),
          ),
        );
        taps.hidden = state.bind !== "convolution";
        const most = Math.max(...named),
          best = there.filter((token) => most - share(token) < 0.01),
          answer = COLOURS[state.colours[state.asked]],
          asks = "“" + tokens[LAST] + "”",
          found = weights.flatMap((weight, t) => (weight > 0.2 ? ["step " + t + " (" + percent(weight) + ")"] : []));
        const names = best.join(" and ") + " with " + percent(most) + (best.length > 1 ? " each" : "");
        const judged = best.length > 1 ? "not decided" : best[0] === answer ? "right" : "wrong";
        const places = found.length ? found.join(", ") : "many steps";
        said.say(
          `The last ${asks} attends to ${places}. It names ${names}. This is ${judged}: after the earlier ${asks} stands ${answer}.`,
        );
      }
      const layers = [
        ["nothing", "nothing"],
        ["head", "a head"],
        ["convolution", "a convolution"],
      ];
      const tap = (name, text) =>
        // Taps below 0 come from older links alone.
        slider(
          text,
          { from: Math.min(0, Math.floor(state[name])), to: 1, step: 0.1, value: state[name], shown: (n) => signed(n, 1) },
          (value) => changed({ [name]: value }),
        );
      taps.append(tap("a", "tap a (0–1): token before"), tap("c", "tap c (0–1): own token"));
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
