// The pointer network with a Transformer encoder (chapter 14): its outputs are positions of its inputs.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { logSoftmax, weightedSum, additive, encoderStack, lstm, cellOf, largest } = LIVE;

  // `pack`: tensors, layers, heads, may_stop (whether it may end before all points are named).
  LIVE.PointerNetwork = function (pack) {
    const T = pack.tensors,
      at = LIVE.layers(T),
      score = additive(at, "score"),
      decoder = cellOf(T, "decoder", "_l0");
    return {
      start: (points) => {
        const embedded = at("embed").linearAll(points.map((point) => Float32Array.from(point)));
        const keys = encoderStack(at, "encoder.stack", pack.layers, pack.heads, embedded).xs;
        const first = at("encoder.first_state").linear(
            weightedSum(
              keys.map(() => 1 / keys.length),
              keys,
            ),
          ),
          D = first.length / 2;
        return {
          hidden: first.slice(0, D).map(Math.tanh),
          cell: first.slice(D),
          left: points.map(() => true),
          inputs: embedded.concat([T.beginning]),
          prepared: score.prepare(keys.concat([T.end])),
        };
      },
      // Reads one position (N: the beginning) -> log-probabilities of the next (N: the end), and the state.
      step: (token, state) => {
        const next = lstm(decoder, state.inputs[token], state),
          left = state.left.map((is, i) => is && i !== token);
        const allowed = [...left, pack.may_stop || !left.includes(true)];
        const scores = score.scores(next.hidden, state.prepared).map((s, i) => (allowed[i] ? s : -Infinity));
        return { logits: logSoftmax(scores), state: { ...state, ...next, left } };
      },
    };
  };

  // The positions at which the network points, greedily, and its probabilities before each. `first`: a given first position.
  LIVE.pointAt = function (model, points, first) {
    const end = points.length,
      tokens = first === undefined ? [] : [first],
      steps = [];
    let state = model.start(points),
      token = first === undefined ? end : first;
    while (tokens.length <= end) {
      const step = model.step(token, state);
      state = step.state;
      steps.push(step.logits.map(Math.exp));
      [token] = largest(step.logits, 1);
      if (token === end) {
        break;
      }
      tokens.push(token);
    }
    return { tokens, steps };
  };
})(globalThis);
