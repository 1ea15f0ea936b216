// The pointer network of chapter 14's file, with PyTorch's names of its weights, and the chapter's pointer by hand.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linear, linearAll, plus, joined, softmax, weightedSum, largest } = LIVE;

  function attended(T, own, heads, xs) {
    const D = xs[0].length,
      all = linearAll(T[own + ".in_proj_weight"], T[own + ".in_proj_bias"], xs);
    const [queries, keys, values] = [0, 1, 2].map((part) => all.map((one) => one.subarray(part * D, (part + 1) * D)));
    return LIVE.layers(T)(own + ".out_proj").linearAll(LIVE.manyHeads(queries, heads, () => ({ keys, values })).contexts);
  }

  // `pack`: tensors, layers, heads. start(points) returns a function that scores all cities for a courier in city `last`.
  LIVE.Courier = function (pack) {
    const T = pack.tensors,
      at = LIVE.layers(T);
    function block(name, xs) {
      const read = attended(T, name + ".self_attn", pack.heads, xs.map(at(name + ".norm1").norm)),
        seen = xs.map((x, i) => plus(x, read[i]));
      const wide = at(name + ".linear1").linearAll(seen.map(at(name + ".norm2").norm)),
        out = at(name + ".linear2").linearAll(wide.map((one) => one.map((v) => Math.max(0, v))));
      return seen.map((x, i) => plus(x, out[i]));
    }
    function start(points) {
      let keys = at("embed").linearAll(points.map((point) => Float32Array.from(point)));
      for (let layer = 0; layer < pack.layers; layer++) {
        keys = block("encoder.layers." + layer, keys);
      }
      const mean = weightedSum(
          keys.map(() => 1 / keys.length),
          keys,
        ),
        prepared = at("pointer.W_k").linearAll(keys),
        v = T["pointer.v.weight"];
      return (last) => {
        const query = linear(T["pointer.W_q.weight"], null, joined(mean, keys[0], keys[last]));
        return prepared.map((key) => key.reduce((sum, one, i) => sum + v[i] * Math.tanh(one + query[i]), 0));
      };
    }
    return { start };
  };

  // The pointer by hand: the score is minus ten times the distance.
  LIVE.courierByHand = { start: (points) => (last) => points.map(([x, y]) => -10 * Math.hypot(x - points[last][0], y - points[last][1])) };

  // The trip from city 0 on, always to the most probable city, and the probabilities of each choice.
  LIVE.driven = function (model, points) {
    const scores = model.start(points),
      trip = [0],
      steps = [];
    while (trip.length < points.length) {
      const masked = scores(trip.at(-1)).map((score, i) => (trip.includes(i) ? -Infinity : score)),
        chances = softmax(masked);
      steps.push(chances);
      trip.push(largest(chances, 1)[0]);
    }
    return { trip, steps };
  };
})(globalThis);
