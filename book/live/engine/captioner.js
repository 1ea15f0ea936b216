// Show, Attend and Tell on canvases of digits (chapter 6): a feature map, soft or hard attention, and an LSTM.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { joined, softmax, weightedSum, additive, lstm, cellOf, largest, drawn, convolve } = LIVE;

  // The maximum of each 2 × 2.
  const pool = (planes, side) =>
    planes.map((plane) =>
      Float32Array.from({ length: (side * side) / 4 }, (_, i) => {
        const at = 2 * Math.floor(i / (side / 2)) * side + 2 * (i % (side / 2));
        return Math.max(plane[at], plane[at + 1], plane[at + side], plane[at + side + 1]);
      }),
    );

  // `pack`: tensors, embedding. `draw()` gives a number below 1 where a position is drawn (hard attention); without it
  // hard attention takes the position of the largest weight.
  LIVE.Captioner = function (pack, { hard = false, draw } = {}) {
    const T = pack.tensors,
      at = LIVE.layers(T),
      score = additive(at, "score"),
      cell = cellOf(T, "cell.cell", "");
    // A convolution, then ReLU.
    const features = (name, planes, side) =>
      convolve(T["features." + name + ".weight"], T["features." + name + ".bias"], planes, side, side).map((plane) =>
        plane.map((v) => Math.max(0, v)),
      );

    function annotate(image, side) {
      // image: side × side numbers, 0 paper, 1 ink
      const small = side / 4,
        planes = features(6, pool(features(3, pool(features(0, [image], side), side), side / 2), side / 2), small);
      const along = (i) => (small > 1 ? (2 * i) / (small - 1) - 1 : -1);
      return Array.from({ length: small * small }, (_, i) => {
        const seen = Float32Array.from(planes, (plane) => plane[i]),
          where = Float32Array.of(along(Math.floor(i / small)), along(i % small));
        return at("place")
          .linear(joined(seen, where))
          .map((v) => Math.max(0, v));
      });
    }

    const chosen = (weights) => (draw ? drawn(weights, draw()) : largest(weights, 1)[0]);

    return {
      start: (image, side) => {
        const annotations = annotate(image, side),
          mean = weightedSum(
            annotations.map(() => 1 / annotations.length),
            annotations,
          );
        const first = at("first_state").linear(mean).map(Math.tanh),
          D = first.length / 2;
        return { hidden: first.slice(0, D), cell: first.slice(D), annotations, prepared: score.prepare(annotations) };
      },
      step: (token, state) => {
        const weights = softmax(score.scores(state.hidden, state.prepared)),
          location = hard ? chosen(weights) : -1;
        const context = hard ? state.annotations[location] : weightedSum(weights, state.annotations),
          embedded = at("embed").row(token, pack.embedding);
        const next = lstm(cell, joined(embedded, context), state);
        return { logits: at("output").linear(joined(next.hidden, context, embedded)), weights, location, state: { ...state, ...next } };
      },
    };
  };
})(globalThis);
