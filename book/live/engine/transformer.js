// The Transformer of chapters 9 and 18: start(source) reads a sentence, step(token, state) writes on, with a cache.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linearAll, plus, multiHead, keysAndValues, feedForward, encoderStack } = LIVE;

  // `pack`: tensors, layers, heads, d_model. `switched(kind, layer, head)` says how a head of "encoder", "self" or
  // "cross" is switched: undefined, "zero" or "even".
  LIVE.Transformer = function (pack, switched = () => undefined) {
    const at = LIVE.layers(pack.tensors),
      { layers, heads, d_model: D } = pack;

    const embedded = (side, token, position) =>
      at("embed_" + side + ".words")
        .row(token, D)
        .map((value, i) => {
          const angle = position * 10000 ** (-(i - (i % 2)) / D);
          return value * Math.sqrt(D) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
        });

    function start(source) {
      const words = source.map((token, i) => embedded("source", token, i));
      const read = encoderStack(at, "encoder", layers, heads, words, (layer, h) => switched("encoder", layer, h));
      const memory = Array.from({ length: layers }, (_, layer) =>
        keysAndValues(at, "decoder.layers." + layer + ".cross_attention", read.xs),
      );
      return { memory, past: memory.map(() => ({ keys: [], values: [] })), written: 0, encoder: read.weights };
    }

    // Several texts at once: their vectors, pasts and memories.
    function decoderBlock(layer, xs, pasts, memories) {
      const block = "decoder.layers." + layer + ".",
        own = block + "self_attention";
      const normed = xs.map(at(block + "norm_self").norm),
        now = keysAndValues(at, own, normed);
      const read = pasts.map(({ keys, values }, i) => ({ keys: [...keys, now.keys[i]], values: [...values, now.values[i]] }));
      const self = multiHead(
        at,
        own,
        heads,
        normed,
        (i) => read[i],
        (h) => switched("self", layer, h),
      );
      const seen = xs.map((x, i) => plus(x, self.outs[i]));
      const cross = multiHead(
        at,
        block + "cross_attention",
        heads,
        seen.map(at(block + "norm_cross").norm),
        (i) => memories[i],
        (h) => switched("cross", layer, h),
      );
      const out = feedForward(
        at,
        block,
        seen.map((x, i) => plus(x, cross.outs[i])),
      );
      return { xs: out, read, self: self.weights, cross: cross.weights };
    }

    // For each of several texts, one word -> logits of the next, the state after it, and the weights [layer][head][key], within
    // the target and to the source.
    function steps(tokens, states) {
      let xs = tokens.map((token, i) => embedded("target", token, states[i].written));
      const blocks = Array.from({ length: layers }, (_, layer) => {
        const pasts = states.map(({ past }) => past[layer]),
          memories = states.map(({ memory }) => memory[layer]);
        const block = decoderBlock(layer, xs, pasts, memories);
        xs = block.xs;
        return block;
      });
      const logits = linearAll(at("embed_target.words").weight, null, xs.map(at("decoder.last_norm").norm)); // tied
      return states.map((state, i) => ({
        logits: logits[i],
        self: blocks.map((block) => block.self[i]),
        cross: blocks.map((block) => block.cross[i]),
        state: { ...state, past: blocks.map((block) => block.read[i]), written: state.written + 1 },
      }));
    }

    return { start, steps, step: (token, state) => steps([token], [state])[0] };
  };
})(globalThis);
