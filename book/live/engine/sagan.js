// The generator of chapter 16: convolutions, and one layer of attention whose keys and values may come from another canvas.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { softmax, sigmoid, convolve } = LIVE;
  const ROWS = 4, // of the map that attention works on
    COLUMNS = 16,
    NOISE = 16; // features of a cell of the noise

  // Normal numbers, the same for the same seed (Box and Muller).
  LIVE.normals = function (seed, count) {
    const chance = LIVE.chanceFrom(1 + ((seed * 7919) % 2147483646));
    for (let n = 0; n < 10; n++) {
      chance();
    }
    return Float32Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(chance())) * Math.cos(2 * Math.PI * chance()));
  };

  // Each position becomes 2 × 2.
  const doubled = (planes, columns) =>
    planes.map((plane) =>
      Float32Array.from({ length: 4 * plane.length }, (_, i) => {
        const wide = 2 * columns;
        return plane[Math.floor(Math.floor(i / wide) / 2) * columns + Math.floor((i % wide) / 2)];
      }),
    );

  // `pack`: tensors. A map is an array of 32 planes with 4 × 16 numbers each.
  LIVE.Generator = function (pack) {
    const T = Object.fromEntries(Object.entries(pack.tensors).map(([name, numbers]) => [name.replace("generator.", ""), numbers]));

    // Convolution, batch normalisation as after training, ReLU.
    function layer(name, planes, rows, columns) {
      const [mean, spread, weight, bias] = ["running_mean", "running_var", "weight", "bias"].map((part) => T[name + ".1." + part]);
      return convolve(T[name + ".0.weight"], null, planes, rows, columns).map((plane, c) =>
        plane.map((v) => Math.max(0, ((v - mean[c]) / Math.sqrt(spread[c] + 1e-5)) * weight[c] + bias[c])),
      );
    }

    // The weight of a 1 × 1 convolution, divided by its spectral norm uᵀ W v.
    function normalised(name) {
      const at = "attention." + name + ".parametrizations.weight.",
        [W, u, v] = ["original", "0.u", "0.v"].map((part) => T[at + part]);
      let norm = 0;
      u.forEach((left, r) => v.forEach((right, c) => (norm += left * W[r * v.length + c] * right)));
      return W.map((w) => w / norm);
    }
    const [query, key, value, output] = ["query", "key", "value", "output"].map(normalised);
    const vectorsOf = (planes) => Array.from(planes[0], (_, i) => Float32Array.from(planes, (plane) => plane[i]));
    const planesOf = (vectors) => Array.from(vectors[0], (_, c) => Float32Array.from(vectors, (vector) => vector[c]));

    return {
      // What attention works on, from the seed of the noise, or from the noise itself: 16 planes of 2 × 8 numbers, one after another.
      map: (seed, noise = LIVE.normals(seed, NOISE * 16)) => {
        const planes = Array.from({ length: NOISE }, (_, c) => noise.slice(16 * c, 16 * c + 16)),
          row = Float32Array.from({ length: 16 }, (_, i) => (i < 8 ? -1 : 1)),
          column = Float32Array.from({ length: 16 }, (_, i) => -1 + (2 * (i % 8)) / 7);
        return layer("second", doubled(layer("first", [...planes, row, column], 2, 8), 8), ROWS, COLUMNS);
      },
      // The canvas of a map, 8 × 32 numbers from 0 to 1, and all weights. `reads(j)`: the map to whose left and right half position
      // j attends, { left, right }; without it both are the map itself.
      draw: (x, reads = () => ({ left: x, right: x })) => {
        const own = vectorsOf(x),
          known = new Map();
        const half = (map) => {
          if (!known.has(map)) {
            const vectors = vectorsOf(map);
            known.set(map, { keys: LIVE.linearAll(key, null, vectors), values: LIVE.linearAll(value, null, vectors) });
          }
          return known.get(map);
        };
        const queries = LIVE.linearAll(query, null, own);
        const found = own.map((_, j) => {
          const from = reads(j),
            at = (i) => half(i % COLUMNS < COLUMNS / 2 ? from.left : from.right);
          const weights = softmax(Float32Array.from(own, (_, i) => LIVE.dot(queries[j], at(i).keys[i])));
          return {
            weights,
            context: LIVE.weightedSum(
              weights,
              own.map((_, i) => at(i).values[i]),
            ),
          };
        });
        const attended = LIVE.linearAll(
          output,
          null,
          found.map(({ context }) => context),
        );
        const y = own.map((vector, j) => vector.map((v, c) => v + T["attention.gamma"][0] * attended[j][c]));
        const drawn = layer("third", doubled(planesOf(y), COLUMNS), 2 * ROWS, 2 * COLUMNS);
        const [image] = convolve(T["output.weight"], null, drawn, 2 * ROWS, 2 * COLUMNS);
        return { image: image.map((v) => sigmoid(v + T["output.bias"][0])), weights: found.map(({ weights }) => weights) };
      },
    };
  };

  // Whether the digit at an end (0 left, 1 right) of a canvas is a one: a zero has little ink in its middle.
  LIVE.isOne = function (image, end) {
    let ink = 0;
    for (let y = 2; y < 6; y++) {
      for (let x = 3; x < 5; x++) {
        ink += image[y * 32 + 24 * end + x] / 8;
      }
    }
    return ink > 0.4;
  };
})(globalThis);
