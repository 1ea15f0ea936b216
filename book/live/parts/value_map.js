// The values of a sequence in a plane, and the context among them: how each value pulls it.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, dot, largest } = LIVE;
  const WIDTH = 420,
    HEIGHT = 300,
    EDGE = 44,
    LETTER = 8.8; // of a name: about how wide a letter is

  // Vectors in the plane in which they are spread most (their first two principal components): { points, share of the spread }.
  LIVE.flattened = function (vectors) {
    const mean = vectors[0].map((_, i) => vectors.reduce((sum, v) => sum + v[i], 0) / vectors.length),
      centred = vectors.map((v) => v.map((x, i) => x - mean[i]));
    const products = centred.map((a) => centred.map((b) => dot(a, b))),
      all = products.reduce((sum, row, i) => sum + row[i], 0);
    let found = 0;
    const axes = [0, 1].map(() => {
      let axis = products.map((_, i) => 1 + (i % 3)),
        spread = 0;
      for (let turn = 0; turn < 300; turn++) {
        axis = products.map((row) => dot(row, axis));
        spread = Math.sqrt(dot(axis, axis)) || 1;
        axis = axis.map((x) => x / spread);
      }
      products.forEach((row, i) => row.forEach((_, j) => (row[j] -= spread * axis[i] * axis[j]))); // leaves the next one
      found += spread;
      return axis.map((x) => x * Math.sqrt(spread));
    });
    return { points: vectors.map((_, i) => axes.map((axis) => axis[i])), share: all > 0 ? Math.min(1, found / all) : 1 };
  };

  // A picture of the values V_i, the context c, and an arrow V_i − c from it to each value, as wide as the weight. Returns
  // { element, nameless }: the words whose names found no room. The chosen one is named first, then those of large weights.
  LIVE.valueMap = function (points, words, weights, chosen) {
    const spans = [0, 1].map((i) => [Math.min(...points.map((p) => p[i])), Math.max(...points.map((p) => p[i]))]);
    const place = (p) =>
      [WIDTH, HEIGHT].map((size, i) => (size - 2 * EDGE) * ((p[i] - spans[i][0]) / (spans[i][1] - spans[i][0] || 1) - 0.5));
    const at = points.map(place),
      context = [0, 1].map((i) => at.reduce((sum, p, k) => sum + weights[k] * p[i], 0)); // of the weights' sum is 1
    const arrow = (to, k) => {
      const [dx, dy] = [to[0] - context[0], to[1] - context[1]],
        far = Math.hypot(dx, dy);
      if (far < 6) {
        return null;
      }
      const along = (from, side) => [from[0] - (dx * 9 - dy * side) / far, from[1] - (dy * 9 + dx * side) / far].join();
      const shown = { class: k === chosen ? "is-on" : null, style: "--w:" + (0.3 + 0.7 * weights[k]).toFixed(3) }; // a thin arrow is seen, too
      return make(
        "g",
        shown,
        make("line", { x1: context[0], y1: context[1], x2: to[0], y2: to[1], "stroke-width": 1 + 5 * weights[k] }),
        make("polygon", { points: [to.join(), along(to, 5), along(to, -5)].join(" ") }),
      );
    };
    const order = largest(
        [...weights].map((w, k) => (k === chosen ? 2 : w)),
        words.length,
      ),
      marks = order.map((k) => ({ at: at[k], radius: 4, long: LETTER * words[k].length })),
      half = [WIDTH / 2, HEIGHT / 2];
    const placed = LIVE.placeNames([{ at: context, radius: 8, long: 0 }, ...marks], { half, line: 17, least: 0.8 }).slice(1);
    const element = make(
      "svg",
      {
        class: "live-values",
        viewBox: [-half[0], -half[1], WIDTH, HEIGHT].join(" "),
        role: "img",
        "aria-label": "The values, and the context among them",
      },
      at.map(arrow),
      at.map(([x, y]) => make("rect", { x: x - 4, y: y - 4, width: 8, height: 8 })),
      make("circle", { cx: context[0], cy: context[1], r: 8 }),
      order.map((k, n) => placed[n] && make("text", { x: placed[n][0], y: placed[n][1] + 5, "text-anchor": "middle" }, words[k])),
    );
    return { element, nameless: order.filter((_, n) => !placed[n]).map((k) => words[k]) };
  };
})(globalThis);
