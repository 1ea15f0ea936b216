// A query among keys in the plane: scores, softmax, and the weighted sum of the values in a plane of their own.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent, signed, softmax, dot, spread, pairs } = LIVE;
  const NAMES = ["cat", "dog", "car", "bus", "tree"],
    HUES = [214, 28, 148, 330, 265],
    RANGE = 1.6;
  const SCORES = {
    dot: ["q · k", dot],
    scaled: ["q · k / √d", (q, k) => dot(q, k) / Math.SQRT2],
    cosine: ["cosine", (q, k) => dot(q, k) / (Math.hypot(...q) * Math.hypot(...k) || 1)],
  };

  // Scores, weights and context of a query. `kind`: a key of SCORES. `beta`: what the scores are multiplied by.
  LIVE.attendInPlane = function (query, keys, values, kind, beta) {
    const scores = keys.map((key) => SCORES[kind][1](query, key));
    const weights = Array.from(softmax(Float64Array.from(scores, (score) => beta * score)));
    const context = [0, 1].map((i) => values.reduce((sum, value, n) => sum + weights[n] * value[i], 0));
    return { scores, weights, context };
  };

  function table(found) {
    const rows = NAMES.map((name, n) =>
      make(
        "tr",
        { style: "--hue:" + HUES[n] + ";--w:" + found.weights[n].toFixed(3) },
        make("th", { scope: "row" }, name),
        make("td", {}, signed(found.scores[n])),
        make("td", { class: "bar" }, percent(found.weights[n])),
      ),
    );
    return [
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ["key", "score", "weight"].map((name) => make("th", { scope: "col" }, name)),
        ),
      ),
      make("tbody", {}, rows),
    ];
  }

  const lines = (plane, from, ends, weights) =>
    plane.under.replaceChildren(
      ...ends.map((end, n) =>
        make("line", {
          x1: from[0] * plane.unit,
          y1: -from[1] * plane.unit,
          x2: end[0] * plane.unit,
          y2: -end[1] * plane.unit,
          "stroke-width": 0.5 + 7 * weights[n],
          "stroke-opacity": 0.15 + 0.6 * weights[n],
        }),
      ),
    );

  LIVE.figure("query", {
    title: "A query among keys in the plane",
    todo: "Drag the query (the ring) towards a key, and raise β. Then drag a key away from the middle, in its own direction: which score lets it win more often?",
    learned:
      "The softmax chooses softly: between two keys the context moves smoothly from one value to the other, and β decides how sharply. The context always stays between the values. With q · k a long key wins even for queries in a different direction, with the cosine only the direction counts. At the origin all scores are zero, and all weights equal.",
    about: "Five keys and values with two features each, placed by hand; nothing is trained here.",
    defaults: {
      query: [0.5, 0.9],
      keys: [0.85, 0.35, 0.5, 0.62, -0.82, 0.42, -1.2, -0.1, -0.1, -0.9],
      values: [0.9, 0.9, -0.1, 1.3, -1.2, 0.5, -0.8, -1, 0.8, -0.8],
      kind: "dot",
      beta: 3,
    },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" });
      const keyPlane = LIVE.plane({
        label: "The query and five keys",
        range: RANGE,
        moved: moveKey,
        points: [
          ...pairs(state.keys).map((at, n) => ({ name: NAMES[n], at, kind: "key", hue: HUES[n] })),
          { name: "query", at: state.query, kind: "query", hue: 0 },
        ],
      });
      const valuePlane = LIVE.plane({
        label: "Five values, and the context between them",
        range: RANGE,
        moved: moveValue,
        points: [
          ...pairs(state.values).map((at, n) => ({ name: NAMES[n], at, kind: "value", hue: HUES[n] })),
          { name: "context", at: [0, 0], kind: "context", hue: 0, fixed: true },
        ],
      });

      function moveKey(number, at) {
        kept(number === NAMES.length ? { query: at } : { keys: state.keys.toSpliced(2 * number, 2, ...at) });
        show(number !== NAMES.length);
      }
      function moveValue(number, at) {
        kept({ values: state.values.toSpliced(2 * number, 2, ...at) });
        show(false);
      }

      function show(colours = true) {
        const keys = pairs(state.keys),
          values = pairs(state.values),
          attend = (at) => LIVE.attendInPlane(at, keys, values, state.kind, state.beta);
        const found = attend(state.query),
          most = found.weights.indexOf(Math.max(...found.weights));
        if (colours) {
          LIVE.colour(keyPlane, RANGE, HUES, (at) => attend(at).weights);
        }
        const position = (at) => "at " + at.map((v) => signed(v)).join(", ");
        keys.forEach((at, n) =>
          keyPlane.show(n, {
            at,
            radius: 7 + 16 * Math.sqrt(found.weights[n]),
            words: position(at) + ", weight " + percent(found.weights[n]),
          }),
        );
        keyPlane.show(NAMES.length, { at: state.query, words: position(state.query) });
        values.forEach((at, n) => valuePlane.show(n, { at, words: position(at) }));
        valuePlane.show(NAMES.length, { at: found.context });
        lines(keyPlane, [0, 0], [state.query], [0.3]);
        lines(valuePlane, found.context, values, found.weights);
        board.replaceChildren(...table(found));
        said.say(
          "“" +
            NAMES[most] +
            "” has the largest weight, " +
            percent(found.weights[most]) +
            ". The context is (" +
            found.context.map((v) => signed(v)).join(", ") +
            "). The weights are as spread as " +
            spread(found.weights).toFixed(1) +
            " equal ones.",
        );
      }

      room.append(
        choice(
          "Score",
          Object.entries(SCORES).map(([kind, [name]]) => [kind, name]),
          state.kind,
          (kind) => {
            kept({ kind });
            show();
          },
        ),
        slider(
          "β, which multiplies the scores",
          { from: -1.5, to: 1.7, step: 0.02, value: Math.log10(state.beta), shown: (n) => "β = " + (10 ** n).toPrecision(2) },
          (n) => {
            kept({ beta: Number((10 ** n).toPrecision(3)) });
            show();
          },
        ),
        make(
          "div",
          { class: "live-planes" },
          make("div", {}, make("p", { class: "live-head" }, "Keys, and the query"), keyPlane.element),
          make("div", {}, make("p", { class: "live-head" }, "Values, and the context"), valuePlane.element),
        ),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
