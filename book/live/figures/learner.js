// Attention as a learner: labelled examples in the plane, and what attention and a straight line answer everywhere.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, words, percent, short, signed, softmax, pairs, planeLine } = LIVE;
  const HUES = [214, 28, 148],
    NAMES = ["first", "second", "third"],
    WINDOW = { middle: [2.5, 4.5], range: 3 },
    TENTH = 0.1, // of x, within which an answer jumps
    MOST = 0.9, // of the weight, before and after a jump
    STEPS = 96; // of the curve

  // Scores −β/2 · (x − x_j)², weights and answer of attention at x, whose examples are [x_j, y_j].
  LIVE.attendByDistance = function (examples, x, beta) {
    const scores = examples.map(([at]) => -(beta / 2) * (x - at) ** 2);
    const weights = Array.from(softmax(Float64Array.from(scores)));
    return { scores, weights, answer: weights.reduce((sum, weight, n) => sum + weight * examples[n][1], 0) };
  };

  // The straight line with the smallest sum of squared errors: its value at x. A vertical row of examples gives their mean.
  LIVE.leastSquares = function (examples, x) {
    const mean = (i) => examples.reduce((sum, at) => sum + at[i], 0) / examples.length,
      [mx, my] = [mean(0), mean(1)];
    const spread = examples.reduce((sum, [at]) => sum + (at - mx) ** 2, 0);
    const slope = spread > 1e-9 ? examples.reduce((sum, [at, y]) => sum + (at - mx) * (y - my), 0) / spread : 0;
    return my + slope * (x - mx);
  };

  // Where the answer jumps from one example to the next: [x, answer before, answer after], from left to right. Halfway between
  // neighbours; within a tenth of x most of the weight goes from one side to the other.
  LIVE.jumps = function (examples, beta) {
    const order = [...examples].sort((a, b) => a[0] - b[0]);
    return order.slice(1).flatMap(([right], n) => {
      const middle = (order[n][0] + right) / 2;
      const [before, after] = [-1, 1].map((side) => LIVE.attendByDistance(order, middle + (side * TENTH) / 2, beta));
      const left = (weights) => weights.slice(0, n + 1).reduce((a, b) => a + b, 0);
      const seen = Math.abs(after.answer - before.answer) >= 0.01;
      return seen && left(before.weights) > MOST && left(after.weights) < 1 - MOST ? [[middle, before.answer, after.answer]] : [];
    });
  };

  function table(examples, { scores, weights }) {
    const row = (at, n) =>
      make(
        "tr",
        { style: "--hue:" + HUES[n] + ";--w:" + weights[n].toFixed(3) },
        make("th", { scope: "row" }, NAMES[n]),
        [signed(at[0]), signed(at[1]), signed(scores[n])].map((text) => make("td", {}, text)),
        make("td", { class: "bar" }, make("span", {}, percent(weights[n]))),
      );
    const head = ["example", "x (key)", "y (value)", "score", "weight"].map((name) => make("th", { scope: "col" }, name));
    return [make("thead", {}, make("tr", {}, head)), make("tbody", {}, examples.map(row))];
  }

  const jumpsInWords = (jumps) =>
    jumps.length
      ? "The answer jumps " +
        jumps.map(([x, from, to]) => "at x = " + signed(x) + " from " + signed(from) + " to " + signed(to)).join(" and ") +
        "."
      : "With this β the answer jumps nowhere.";

  LIVE.figure("learner", {
    title: "Attention learns from three examples",
    todo: "Drag the query (the ring) to x = 2.4: which example has the largest weight? Raise β: at which x does the answer jump from one label to the next, and from which β on? Lower it to its smallest value. Then put the three examples on a rising straight line and drag the query beyond the last one. Which of the two curves goes on rising?",
    learned:
      "A large β answers with the label of the nearest example, so that the answer jumps halfway between two neighbours. The figure calls it a jump where within a tenth of x more than 90 % of the weight lies first on the one side and then on the other: between the examples of the start at x = 3 from about β = 22 on, and at x = 1.5 from about β = 44 on. A small β answers with the mean of all labels. Moving an example changes the answers at once, and nothing is trained. The answer of attention is a weighted mean of the labels, so it never leaves the range between the smallest and the largest of them: beyond the last example it stays near that example's label, while the line goes on rising.",
    about:
      "The blue curve is attention with the score −β/2 · (x − xⱼ)², the dashed line is least squares. The first query and examples are those of the page; nothing is trained here.",
    defaults: { examples: [1, 3, 2, 6, 4, 5], query: 2, beta: 2 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" });
      const plane = LIVE.plane({
        label: "Three examples, the query, and the answers to every x",
        ...WINDOW,
        moved,
        points: [
          ...pairs(state.examples).map((at, n) => ({ name: NAMES[n], at, kind: "key", hue: HUES[n] })),
          { name: "query", at: [state.query, 0], kind: "query", hue: 0 },
        ],
      });

      function moved(number, at) {
        kept(number === NAMES.length ? { query: at[0] } : { examples: state.examples.toSpliced(2 * number, 2, ...at) });
        show();
      }

      function curve(answer, attributes) {
        const { middle, range } = WINDOW;
        const at = (n) => middle[0] + range * ((2 * n) / STEPS - 1);
        const points = Array.from({ length: STEPS + 1 }, (_, n) => plane.xy([at(n), answer(at(n))]));
        return make("polyline", { points: points.map((one) => one.map((v) => v.toFixed(1)).join(",")).join(" "), ...attributes });
      }

      function show() {
        const examples = pairs(state.examples),
          found = LIVE.attendByDistance(examples, state.query, state.beta),
          line = LIVE.leastSquares(examples, state.query),
          here = [state.query, found.answer];
        const most = found.weights.indexOf(Math.max(...found.weights));
        examples.forEach((at, n) =>
          plane.show(n, {
            at,
            radius: 7 + 12 * Math.sqrt(found.weights[n]),
            words: "at " + at.map((v) => signed(v)).join(", ") + ", weight " + percent(found.weights[n]),
          }),
        );
        plane.show(NAMES.length, { at: here, words: "x = " + signed(state.query) + ", answer " + signed(found.answer) });
        const look = { fill: "none", "stroke-width": 3 };
        plane.under.replaceChildren(
          curve((x) => LIVE.leastSquares(examples, x), { ...look, stroke: "var(--pst-color-text-base)", "stroke-dasharray": "7 6" }),
          curve((x) => LIVE.attendByDistance(examples, x, state.beta).answer, { ...look, stroke: "var(--pa-blue)" }),
          ...examples.map((at, n) =>
            planeLine(plane, here, at, { "stroke-width": 0.5 + 7 * found.weights[n], "stroke-opacity": 0.15 + 0.4 * found.weights[n] }),
          ),
        );
        board.replaceChildren(...table(examples, found));
        said.say(
          "At x = " +
            signed(state.query) +
            " attention answers " +
            signed(found.answer) +
            ", the line " +
            signed(line) +
            ". The " +
            NAMES[most] +
            " example has the largest weight, " +
            percent(found.weights[most]) +
            ". " +
            jumpsInWords(LIVE.jumps(examples, state.beta)),
        );
      }

      room.append(
        slider(
          "β, how sharp the choice is",
          { from: -1.3, to: 2, step: 0.02, value: Math.log10(state.beta), shown: (n) => "β = " + short(10 ** n) },
          (n) => {
            kept({ beta: Number((10 ** n).toPrecision(3)) });
            show();
          },
        ),
        make("div", { class: "live-planes" }, make("div", {}, plane.element), make("div", {}, board, said.element)),
      );
      show();
    },
  });
})(globalThis);
