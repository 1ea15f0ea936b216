// The Transformer of chapters 9 and 18: start(source) reads a sentence, step(token, state) writes on, with a cache.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linear, plus, multiHead, feedForward, encoderStack } = LIVE;

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
      const memory = Array.from({ length: layers }, (_, layer) => {
        const cross = "decoder.layers." + layer + ".cross_attention.project_";
        return { keys: read.xs.map(at(cross + "key").linear), values: read.xs.map(at(cross + "value").linear) };
      });
      return { memory, past: memory.map(() => ({ keys: [], values: [] })), written: 0, encoder: read.weights };
    }

    function decoderBlock(layer, x, past, memory) {
      const block = "decoder.layers." + layer + ".",
        own = block + "self_attention";
      const normed = at(block + "norm_self").norm(x);
      const keys = past.keys.concat([at(own + ".project_key").linear(normed)]);
      const values = past.values.concat([at(own + ".project_value").linear(normed)]);
      const self = multiHead(at, own, heads, normed, keys, values, (h) => switched("self", layer, h));
      x = plus(x, self.out);
      const asked = at(block + "norm_cross").norm(x);
      const cross = multiHead(at, block + "cross_attention", heads, asked, memory.keys, memory.values, (h) => switched("cross", layer, h));
      return { x: feedForward(at, block, plus(x, cross.out)), past: { keys, values }, self: self.weights, cross: cross.weights };
    }

    // One word -> logits of the next, the state after it, and the weights [layer][head][key], within the target and to the source.
    function step(token, state) {
      let x = embedded("target", token, state.written);
      const blocks = state.past.map((past, layer) => {
        const block = decoderBlock(layer, x, past, state.memory[layer]);
        x = block.x;
        return block;
      });
      const logits = linear(at("embed_target.words").weight, null, at("decoder.last_norm").norm(x)); // tied
      return {
        logits,
        self: blocks.map((block) => block.self),
        cross: blocks.map((block) => block.cross),
        state: { ...state, past: blocks.map((block) => block.past), written: state.written + 1 },
      };
    }

    return { start, step };
  };
})(globalThis);
