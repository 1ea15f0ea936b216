// Recurrent cells, and on top of them the model with one vector (chapter 1) and Bahdanau's (chapter 2).
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { linear, plus, sigmoid, joined, softmax, weightedSum, additive } = LIVE;

  // The four tensors of a cell as torch names them.
  const cellOf = (tensors, name, ending) =>
    ["weight_ih", "bias_ih", "weight_hh", "bias_hh"].map((part) => tensors[name + "." + part + ending]);

  function gru([Wi, bi, Wh, bh], x, h) {
    const a = linear(Wi, bi, x),
      b = linear(Wh, bh, h),
      n = h.length;
    return h.map((old, i) => {
      const reset = sigmoid(a[i] + b[i]),
        keep = sigmoid(a[n + i] + b[n + i]);
      return (1 - keep) * Math.tanh(a[2 * n + i] + reset * b[2 * n + i]) + keep * old;
    });
  }

  function lstm([Wi, bi, Wh, bh], x, { hidden, cell }) {
    const g = plus(linear(Wi, bi, x), linear(Wh, bh, hidden)),
      n = hidden.length;
    const next = cell.map((old, i) => sigmoid(g[n + i]) * old + sigmoid(g[i]) * Math.tanh(g[2 * n + i]));
    return { cell: next, hidden: next.map((value, i) => sigmoid(g[3 * n + i]) * Math.tanh(value)) };
  }

  // `pack`: tensors, embedding. The decoder receives the encoder's last state, `context`, at every step.
  LIVE.PlainSeq2Seq = function (pack) {
    const T = pack.tensors,
      at = LIVE.layers(T),
      E = pack.embedding;
    const encoder = cellOf(T, "encoder.rnn", "_l0"),
      cell = cellOf(T, "cell.cell", "");
    return {
      start: (source) => {
        const context = source.reduce(
          (h, token) => gru(encoder, at("encoder.embed").row(token, E), h),
          new Float32Array(encoder[2].length / encoder[3].length),
        );
        return { recurrent: at("first_state").linear(context).map(Math.tanh), context };
      },
      step: (token, state) => {
        const embedded = at("embed").row(token, E),
          recurrent = gru(cell, joined(embedded, state.context), state.recurrent);
        return { logits: at("output").linear(joined(recurrent, state.context, embedded)), state: { ...state, recurrent } };
      },
    };
  };

  // `pack`: tensors, embedding. Each step takes, if given, weights that the reader sets in place of the softmax's.
  LIVE.AttentionSeq2Seq = function (pack) {
    const T = pack.tensors,
      at = LIVE.layers(T),
      E = pack.embedding,
      score = additive(at, "score");
    const run = (words, ending) => {
      // states in the order in which the words come
      const cell = cellOf(T, "encoder.rnn", ending);
      let h = new Float32Array(cell[2].length / cell[3].length);
      return words.map((word) => (h = gru(cell, word, h)));
    };
    return {
      start: (source) => {
        const words = source.map((token) => at("encoder.embed").row(token, E));
        const forth = run(words, "_l0"),
          back = run(words.slice().reverse(), "_l0_reverse").reverse();
        const annotations = forth.map((h, i) => joined(h, back[i]));
        const recurrent = at("first_state")
          .linear(joined(forth[forth.length - 1], back[0]))
          .map(Math.tanh);
        return { recurrent, annotations, prepared: score.prepare(annotations) };
      },
      step: (token, state, set) => {
        const embedded = at("embed").row(token, E),
          scores = score.scores(state.recurrent, state.prepared);
        const weights = set || softmax(scores),
          context = weightedSum(weights, state.annotations);
        const recurrent = gru(cellOf(T, "cell.cell", ""), joined(embedded, context), state.recurrent);
        return { logits: at("output").linear(joined(recurrent, context, embedded)), scores, weights, state: { ...state, recurrent } };
      },
    };
  };

  Object.assign(LIVE, { lstm, cellOf });
})(globalThis);
