// Self-attention of four words by hand: the reader changes the three projections, and the number of the missing verb follows.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, buttons, words, refill, signed } = LIVE;
  const FEATURES = ["noun", "verb", "number", "early"],
    D = FEATURES.length,
    LAST = 3; // the position of “?”
  // Each noun with its number, 1 for plural; the first is the subject.
  const SENTENCES = [
    [["keys", 1], ["cabinet", -1], ["farmer", -1]],
    [["key", -1], ["cabinets", 1], ["farmers", 1]],
    [["farmer", -1], ["cabinet", -1], ["keys", 1]],
  ]; // prettier-ignore
  const identity = () => Array.from({ length: D * D }, (_, i) => Number(i % (D + 1) === 0)),
    only = (...cells) => Array.from({ length: D * D }, (_, i) => Number(cells.includes(i))),
    NUMBER = [0, 0, 1, 0];
  const NOUN = D, // from “verb”, the second row, to “noun”
    EARLY = 2 * D - 1; // from “verb” to “early”
  const PRESETS = [
    ["Q = K = X", { query: identity(), key: identity() }, 3],
    ["a verb searches for a noun", { query: only(NOUN), key: identity() }, 3],
    ["… for an early noun", { query: only(NOUN, EARLY), key: identity() }, 4],
    ["the same, keys without “early”", { query: only(NOUN, EARLY), key: only(0, D + 1, 2 * (D + 1)) }, 4],
  ];
  const CYCLE = new Map([[0, 1], [1, 2], [2, -2], [-2, -1], [-1, 0]]); // prettier-ignore

  // The vectors of a sentence, one row per word: (4, features).
  LIVE.tinySentence = (which, features) =>
    [...SENTENCES[which].map(([, number]) => [2, 0, number]), [0, 2, 0]].map((row, i) => [...row, LAST - i].slice(0, features));

  // Scores, weights and contexts of X (n, d) with matrices that are written row by row, D columns wide (the values' one).
  LIVE.selfAttention = function (X, { query, key, value, causal }) {
    const d = X[0].length;
    const project = (x, W, columns) =>
      Array.from({ length: columns }, (_, c) => x.reduce((sum, feature, r) => sum + feature * W[columns === 1 ? r : r * D + c], 0));
    const [Q, K] = [query, key].map((W) => X.map((x) => project(x, W, d))),
      V = X.map((x) => project(x, value, 1)[0]);
    const scores = Q.map((q, i) => K.map((k, j) => (causal && j > i ? -Infinity : LIVE.dot(q, k))));
    const weights = scores.map((row) => Array.from(LIVE.softmax(Float64Array.from(row, (score) => score / Math.sqrt(d)))));
    return { scores, weights, contexts: weights.map((row) => row.reduce((sum, w, j) => sum + w * V[j], 0)) };
  };

  // The number of “?” in each sentence, and whether it has the sign of the subject's.
  LIVE.numbersOfVerbs = (state) =>
    SENTENCES.map((sentence, which) => {
      const number = LIVE.selfAttention(LIVE.tinySentence(which, state.features), state).contexts[LAST];
      return { number, right: Math.abs(number) > 1e-9 && number > 0 === sentence[0][1] > 0 };
    });

  LIVE.figure("self_attention", {
    title: "Which matrices find the subject?",
    todo: "“?” should receive a positive number (are) if the first noun is plural, and a negative one (is) if it is singular. Press a cell of W_q, W_k or W_v: each press gives it the next of the numbers 0, 1, 2, −2, −1. In how many sentences can you make the verb right?",
    learned:
      "If the verb searches for a plural noun (in the row “verb” of W_q, a 1 under “number”), sentence 1 is right and the other two are wrong, because now any plural noun wins. With −1 in W_v, sentences 1 and 2 are right, and 3 is wrong. With three features no matrices are right in all three, because “?” receives the same number in sentences 1 and 3: exchanging words exchanges their weights, and nothing else. The causal mask doesn’t help, because “?” stands last and may attend to all words; it changes the rows above. With the fourth feature all three are right if W_q moves “verb” to “noun” and to “early”, but only if W_k keeps “early”: without it the three nouns vote again, and one of three is right.",
    about:
      "The example of the text, with vectors and matrices of whole numbers; nothing is trained here. As in Step 4, W_v has one column.",
    defaults: { sentence: 0, features: 3, causal: 0, query: only(NOUN), key: identity(), value: NUMBER },
    draw(room, state, kept) {
      const said = words(),
        [presets, verbs] = [0, 1].map(() => make("div", {})),
        [given, computed] = [0, 1].map(() => make("div", { class: "live-tiles" }));
      const named = (name, grid) => make("div", {}, make("p", { class: "live-head" }, name), grid);
      const change = (changes) => {
        kept(changes);
        show();
      };

      // A matrix whose numbers change when they are pressed.
      function matrix(name, entry, columns) {
        const at = (r, c) => (columns.length === 1 ? r : r * D + c);
        return named(
          name,
          LIVE.grid({
            rows: FEATURES.slice(0, state.features),
            columns,
            label: name,
            pressed: (r, c) => change({ [entry]: state[entry].toSpliced(at(r, c), 1, CYCLE.get(state[entry][at(r, c)]) ?? 0) }),
            cell: (r, c) => {
              const number = state[entry][at(r, c)];
              return {
                weight: Math.min(1, Math.abs(number) / 4),
                text: signed(number, 0),
                title: name + ": " + FEATURES[r] + " to " + columns[c],
              };
            },
          }),
        );
      }

      // Whether the matrices are these, as far as the features reach.
      const loaded = (matrices) =>
        Object.entries(matrices).every(([entry, numbers]) =>
          numbers.every((number, i) => (i % D >= state.features || i >= state.features * D ? true : number === state[entry][i])),
        );

      function show() {
        const features = FEATURES.slice(0, state.features),
          names = [...SENTENCES[state.sentence].map(([word]) => word), "?"],
          X = LIVE.tinySentence(state.sentence, state.features),
          found = LIVE.selfAttention(X, state),
          all = LIVE.numbersOfVerbs(state),
          root = Math.sqrt(state.features);
        // A matrix with one row per word, the row of “?” framed.
        const shown = (name, columns, numbers, digits, shade = () => 0) =>
          named(
            name,
            LIVE.grid({
              rows: names,
              columns,
              label: name,
              cell: (r, c) => ({
                weight: shade(numbers[r][c]),
                text: numbers[r][c] === -Infinity ? "−∞" : signed(numbers[r][c], digits),
                mark: r === LAST ? "is-now" : "",
              }),
            }),
          );
        const preset = ([name, matrices]) => {
          const all = { ...matrices, value: NUMBER };
          return [name, () => change(all), loaded(all)];
        };
        const pressable = buttons(...PRESETS.filter(([, , needs]) => needs <= state.features).map(preset));
        pressable.prepend("Matrices of the text:");
        refill(presets, pressable);
        refill(given, matrix("W_q", "query", features), matrix("W_k", "key", features), matrix("W_v", "value", ["number"]));
        const row = (tag, ...cells) => cells.map((text) => make(tag, tag === "th" ? { scope: "col" } : {}, text));
        const verb = (number) => (Math.abs(number) < 1e-9 ? "neither" : number > 0 ? "are" : "is");
        refill(
          verbs,
          make(
            "table",
            { class: "live-table" },
            make("thead", {}, make("tr", {}, row("th", "sentence", "needs", "“?” receives", "verb"))),
            make(
              "tbody",
              {},
              all.map(({ number, right }, n) =>
                make(
                  "tr",
                  {},
                  row(
                    "td",
                    [n + 1 + ":", ...SENTENCES[n].map(([word]) => word), "?"].join(" "),
                    verb(SENTENCES[n][0][1]),
                    signed(number),
                    verb(number) + (right ? ", right" : ", wrong"),
                  ),
                ),
              ),
            ),
          ),
        );
        refill(
          computed,
          shown("X", features, X, 0),
          shown("Scores Q Kᵀ", names, found.scores, 0),
          shown(
            "Scores / √" + state.features,
            names,
            found.scores.map((scores) => scores.map((score) => score / root)),
            1,
          ),
          shown("Weights (softmax)", names, found.weights, 2, (weight) => weight),
          shown(
            "Contexts",
            ["number"],
            found.contexts.map((number) => [number]),
            2,
          ),
        );
        const good = all.flatMap((one, n) => (one.right ? [n + 1] : []));
        said.say(
          "The verb is right in " +
            good.length +
            " of 3 sentences" +
            (good.length && good.length < 3 ? ": in sentence " + good.join(" and ") : "") +
            ".",
        );
      }
      // What the text brings only later, folded as long as nobody has chosen it.
      const later = make(
        "details",
        { open: state.features === D || state.causal === 1 },
        make("summary", {}, "For later: how early, and a mask"),
        choice(
          "Features",
          [
            [3, "three"],
            [4, "and how early"],
          ],
          state.features,
          (features) => change({ features }),
        ),
        choice(
          "Mask",
          [
            [0, "none"],
            [1, "causal"],
          ],
          state.causal,
          (causal) => change({ causal }),
        ),
      );
      later.addEventListener("change", () => (later.open = true));
      room.append(
        presets,
        given,
        verbs,
        said.element,
        choice(
          "How “?” gets its number (framed rows), in sentence",
          SENTENCES.map((_, n) => [n, String(n + 1)]),
          state.sentence,
          (sentence) => change({ sentence }),
        ),
        computed,
        later,
      );
      show();
    },
  });
})(globalThis);
