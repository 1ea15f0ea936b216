// Additive attention as chapter 2 defines it.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linear } = LIVE;

  // Scores vᵀ tanh(W_q q + W_k k); the keys' part is computed once.
  LIVE.additive = (at, name) => ({
    prepare: (keys) => at(name + ".key_to_hidden").linearAll(keys),
    scores: (query, prepared) => {
      const asked = linear(at(name + ".query_to_hidden").weight, null, query),
        v = at(name + ".hidden_to_score").weight;
      return Float32Array.from(prepared, (key) => {
        let sum = 0;
        for (let i = 0; i < key.length; i++) {
          sum += v[i] * Math.tanh(asked[i] + key[i]);
        }
        return sum;
      });
    },
  });
})(globalThis);
