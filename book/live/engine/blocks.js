// Many heads of scaled dot products, in the blocks of a Transformer (chapters 8 and 9).
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { dot, plus, softmax, weightedSum } = LIVE;

  // One head of one query: its weights, and its context written into `out`, at the features from … to. A head may be switched:
  // "zero" takes its output away, "even" spreads its weights evenly over the keys.
  function headOf(query, keys, values, from, to, how, out) {
    const scores = new Float32Array(keys.length),
      scale = Math.sqrt(to - from);
    if (how !== "even") {
      for (let k = 0; k < keys.length; k++) {
        scores[k] = dot(query, keys[k], from, to) / scale;
      }
    }
    const weights = softmax(scores);
    if (how !== "zero") {
      out.set(weightedSum(weights, values, from, to), from);
    }
    return weights;
  }

  // Many heads of several queries, projected already, at once: contexts [query] and weights [query][head][key].
  LIVE.manyHeads = function (queries, heads, read, switched = () => undefined) {
    const contexts = queries.map((query) => new Float32Array(query.length));
    const weights = queries.map((query, i) => {
      const width = query.length / heads,
        { keys, values } = read(i);
      return Array.from({ length: heads }, (_, h) => headOf(query, keys, values, h * width, (h + 1) * width, switched(h), contexts[i]));
    });
    return { weights, contexts };
  };

  // Multi-head attention of several queries at once; the i-th one's keys and values are `read(i).keys` and `read(i).values`,
  // projected already. `switched(head)` is undefined, "zero" or "even". Returns outs [query] and weights [query][head][key].
  LIVE.multiHead = function (at, name, heads, queries, read, switched) {
    const { weights, contexts } = LIVE.manyHeads(at(name + ".project_query").linearAll(queries), heads, read, switched);
    return { weights, outs: at(name + ".project_output").linearAll(contexts) };
  };

  // Keys and values of the attention with this name.
  LIVE.keysAndValues = (at, name, xs) => ({
    keys: at(name + ".project_key").linearAll(xs),
    values: at(name + ".project_value").linearAll(xs),
  });

  LIVE.feedForward = function (at, block, xs) {
    const wide = at(block + "feed_forward.widen").linearAll(xs.map(at(block + "norm_feed_forward").norm));
    wide.forEach((one) => one.forEach((v, i) => (one[i] = Math.max(0, v))));
    return at(block + "feed_forward.narrow")
      .linearAll(wide)
      .map((out, i) => plus(xs[i], out));
  };

  // A stack of pre-norm encoder blocks: vectors in and out, and the weights [layer][head][query][key].
  LIVE.encoderStack = function (at, name, layers, heads, xs, switched = () => undefined) {
    const seen = [];
    for (let layer = 0; layer < layers; layer++) {
      const block = name + ".layers." + layer + ".",
        own = block + "self_attention";
      const normed = xs.map(at(block + "norm_self").norm),
        read = LIVE.keysAndValues(at, own, normed);
      const { weights, outs } = LIVE.multiHead(
        at,
        own,
        heads,
        normed,
        () => read,
        (h) => switched(layer, h),
      );
      seen.push(Array.from({ length: heads }, (_, h) => weights.map((one) => one[h])));
      xs = LIVE.feedForward(
        at,
        block,
        xs.map((x, i) => plus(x, outs[i])),
      );
    }
    return { xs: xs.map(at(name + ".last_norm").norm), weights: seen };
  };
})(globalThis);
