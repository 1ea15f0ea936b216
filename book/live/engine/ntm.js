// The neural Turing machine with a feed-forward controller (chapter 13).
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { dot, joined, sigmoid, softplus, softmax, weightedSum } = LIVE;
  const norm = (v) => Math.max(Math.sqrt(dot(v, v)), 1e-8);

  // The four steps of addressing: content, gate, shift, sharpening (Graves et al. 2014, figure 2).
  LIVE.address = function ({ key, beta, gate, shift, gamma }, previous, memory, norms = memory.map(norm)) {
    const N = memory.length,
      [alike, gated, moved, sharp] = Array.from({ length: 4 }, () => new Float32Array(N)),
      long = norm(key);
    for (let i = 0; i < N; i++) {
      alike[i] = (beta * dot(key, memory[i])) / (long * norms[i]);
    }
    const content = softmax(alike);
    for (let i = 0; i < N; i++) {
      gated[i] = gate * content[i] + (1 - gate) * previous[i];
    }
    for (let i = 0; i < N; i++) {
      moved[i] = shift[0] * gated[(i + 1) % N] + shift[1] * gated[i] + shift[2] * gated[(i + N - 1) % N];
      sharp[i] = gamma * Math.log(Math.max(moved[i], 1.1754944e-38));
    }
    const weights = softmax(sharp);
    return { content, gated, moved, weights };
  };

  // What the controller tells a head, out of M + 6 numbers: key, β, g, s, γ.
  const toldTo = (told, M) => ({
    key: told.subarray(0, M),
    beta: softplus(told[M]),
    gate: sigmoid(told[M + 1]),
    shift: softmax(told.slice(M + 2, M + 5)),
    gamma: 1 + softplus(told[M + 5]),
  });

  // A row after the write head has erased and added there with this weight.
  function changed(row, weight, erase, add) {
    const out = new Float32Array(row.length);
    for (let i = 0; i < out.length; i++) {
      out[i] = row[i] * (1 - weight * erase[i]) + weight * add[i];
    }
    return out;
  }

  // `pack`: tensors, width (M, numbers per row), fill (what each cell of a fresh memory holds).
  LIVE.NTM = function (pack) {
    const at = LIVE.layers(pack.tensors),
      M = pack.width;
    return {
      start: (rows) => {
        const memory = Array.from({ length: rows }, () => new Float32Array(M).fill(pack.fill));
        const weights = Float32Array.from({ length: rows }, (_, i) => (i ? 0 : 1));
        return { memory, heads: [{ weights }, { weights }], read: weightedSum(weights, memory) }; // reader, writer
      },
      step: (x, state) => {
        const hidden = at("controller.layer")
          .linear(joined(Float32Array.from(x), state.read))
          .map(Math.tanh);
        const told = at("address.layer").linear(hidden);
        const norms = state.memory.map(norm);
        const heads = state.heads.map((head, i) => {
          const asked = toldTo(told.subarray(i * (M + 6), (i + 1) * (M + 6)), M);
          return { ...asked, ...LIVE.address(asked, head.weights, state.memory, norms) };
        });
        const written = at("erase_and_add").linear(hidden),
          erase = written.slice(0, M).map(sigmoid),
          add = written.slice(M);
        const memory = state.memory.map((row, n) => changed(row, heads[1].weights[n], erase, add));
        const read = weightedSum(heads[0].weights, memory);
        return { output: at("output").linear(joined(hidden, read)).map(sigmoid), add, state: { memory, heads, read } };
      },
    };
  };
})(globalThis);
