// Attention as the chapters define it: additive (chapter 2), and many heads of scaled dot products in blocks (8 and 9).
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linear, dot, plus, joined, softmax, weightedSum } = LIVE;

  // Scores vᵀ tanh(W_q q + W_k k); the keys' part is computed once.
  LIVE.additive = (at, name) => ({
    prepare: (keys) => keys.map(at(name + ".key_to_hidden").linear),
    scores: (query, prepared) => {
      const asked = linear(at(name + ".query_to_hidden").weight, null, query),
        v = at(name + ".hidden_to_score").weight;
      return Float32Array.from(prepared, (key) => v.reduce((sum, one, i) => sum + one * Math.tanh(asked[i] + key[i]), 0));
    },
  });

  // How a head may be switched: "zero" takes its output away, "even" spreads its weights evenly over the keys.
  function headOf(query, keys, values, from, to, how) {
    const scores = Float32Array.from(keys, (key) => (how === "even" ? 0 : dot(query, key, from, to) / Math.sqrt(to - from)));
    const weights = softmax(scores);
    return { weights, context: how === "zero" ? new Float32Array(to - from) : weightedSum(weights, values, from, to) };
  }

  // Multi-head attention of one query; keys and values are projected already. `switched(head)` is undefined, "zero" or "even".
  LIVE.multiHead = function (at, name, heads, query, keys, values, switched) {
    const asked = at(name + ".project_query").linear(query),
      width = asked.length / heads;
    const found = Array.from({ length: heads }, (_, h) => headOf(asked, keys, values, h * width, (h + 1) * width, switched && switched(h)));
    return {
      weights: found.map((head) => head.weights),
      out: at(name + ".project_output").linear(joined(...found.map((head) => head.context))),
    };
  };

  LIVE.feedForward = function (at, block, x) {
    const wide = at(block + "feed_forward.widen")
      .linear(at(block + "norm_feed_forward").norm(x))
      .map((v) => Math.max(0, v));
    return plus(x, at(block + "feed_forward.narrow").linear(wide));
  };

  // A stack of pre-norm encoder blocks: vectors in and out, and the weights [layer][head][query][key].
  LIVE.encoderStack = function (at, name, layers, heads, xs, switched = () => undefined) {
    const seen = [];
    for (let layer = 0; layer < layers; layer++) {
      const block = name + ".layers." + layer + ".",
        own = block + "self_attention";
      const normed = xs.map(at(block + "norm_self").norm);
      const keys = normed.map(at(own + ".project_key").linear),
        values = normed.map(at(own + ".project_value").linear);
      const found = normed.map((query) => LIVE.multiHead(at, own, heads, query, keys, values, (h) => switched(layer, h)));
      seen.push(Array.from({ length: heads }, (_, h) => found.map((one) => one.weights[h])));
      xs = xs.map((x, i) => LIVE.feedForward(at, block, plus(x, found[i].out)));
    }
    return { xs: xs.map(at(name + ".last_norm").norm), weights: seen };
  };
})(globalThis);
