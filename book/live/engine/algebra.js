// Vectors and matrices for the live figures: a vector is a Float32Array, a sequence an Array of vectors.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});

  // W x + b, with W (out, in) row by row, for each of several x: every row is fetched once for all of them.
  function linearAll(W, b, xs) {
    const found = (xs.length && LIVE.product(W, xs)) || xs.map((x) => rowByRow(W, x));
    return b ? found.map((out) => plus(out, b)) : found;
  }
  const linear = (W, b, x) => linearAll(W, b, [x])[0];

  // W x without WebAssembly. Eight rows at once, because then each number of x is fetched once for all of them, and no sum has
  // to wait for itself.
  function rowByRow(W, x) {
    const n = x.length,
      out = new Float32Array(W.length / n),
      whole = out.length - (out.length % 8);
    for (let o = 0; o < whole; o += 8) {
      let s = 0,
        t = 0,
        u = 0,
        v = 0,
        w = 0,
        y = 0,
        z = 0,
        r = 0;
      const at = o * n;
      for (let i = 0; i < n; i++) {
        const one = x[i],
          from = at + i;
        s += W[from] * one;
        t += W[from + n] * one;
        u += W[from + 2 * n] * one;
        v += W[from + 3 * n] * one;
        w += W[from + 4 * n] * one;
        y += W[from + 5 * n] * one;
        z += W[from + 6 * n] * one;
        r += W[from + 7 * n] * one;
      }
      out.set([s, t, u, v, w, y, z, r], o);
    }
    for (let o = whole; o < out.length; o++) {
      out[o] = dot(W.subarray(o * n, o * n + n), x);
    }
    return out;
  }

  // a · b, of the features from … to.
  function dot(a, b, from = 0, to = a.length) {
    let sum = 0;
    for (let i = from; i < to; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  function plus(a, b) {
    const out = new Float32Array(a.length);
    for (let i = 0; i < out.length; i++) {
      out[i] = a[i] + b[i];
    }
    return out;
  }
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  const softplus = (x) => (x > 20 ? x : Math.log1p(Math.exp(x)));

  function joined(...parts) {
    const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    parts.forEach((part) => {
      out.set(part, at);
      at += part.length;
    });
    return out;
  }

  // Log-probabilities of scores; a score of −∞ stays −∞. Plain loops, because a vocabulary has thousands of them.
  function logSoftmax(scores) {
    let most = -Infinity,
      sum = 0;
    for (let i = 0; i < scores.length; i++) {
      if (scores[i] > most) {
        most = scores[i];
      }
    }
    for (let i = 0; i < scores.length; i++) {
      sum += Math.exp(scores[i] - most);
    }
    const all = most + Math.log(sum);
    return scores.map((x) => x - all);
  }
  const softmax = (scores) => logSoftmax(scores).map((x) => Math.exp(x));

  // The weighted sum Σ weight · row, of the features from … to: a context.
  function weightedSum(weights, rows, from = 0, to = rows[0].length) {
    const out = new Float32Array(to - from);
    rows.forEach((row, at) => {
      const weight = weights[at];
      for (let i = 0; i < out.length; i++) {
        out[i] += weight * row[from + i];
      }
    });
    return out;
  }

  function layerNorm(gain, bias, x) {
    const n = x.length,
      out = new Float32Array(n);
    let sum = 0,
      squares = 0;
    for (let i = 0; i < n; i++) {
      sum += x[i];
    }
    const mean = sum / n;
    for (let i = 0; i < n; i++) {
      squares += (x[i] - mean) ** 2;
    }
    const scale = 1 / Math.sqrt(squares / n + 1e-5);
    for (let i = 0; i < n; i++) {
      out[i] = (x[i] - mean) * scale * gain[i] + bias[i];
    }
    return out;
  }

  // The positions of the `count` largest numbers, largest first; of equal ones the first. (Sorting all would take longer.)
  function largest(numbers, count) {
    const found = [];
    for (let at = 0, least = -Infinity; at < numbers.length; at++) {
      const number = numbers[at];
      if (found.length === count && number <= least) {
        continue;
      }
      let position = found.length;
      while (position > 0 && numbers[found[position - 1]] < number) {
        position--;
      }
      found.splice(position, 0, at);
      found.length = Math.min(found.length, count);
      least = numbers[found.at(-1)];
    }
    return found;
  }

  // A position drawn with these chances, for a number from 0 to 1; the first one if rounding leaves none.
  function drawn(chances, left) {
    return Math.max(
      0,
      chances.findIndex((chance) => (left -= chance) < 0),
    );
  }

  // Random numbers between 0 and 1, the same for the same seed, a whole number from 1 to 2147483646 (Lehmer).
  function chanceFrom(seed) {
    return () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  }

  // How many equal weights would be as spread as these: 2 to the power of their entropy in bits.
  const spread = (weights) => 2 ** -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log2(w) : 0), 0);

  Object.assign(LIVE, {
    linear,
    linearAll,
    dot,
    plus,
    sigmoid,
    softplus,
    joined,
    logSoftmax,
    softmax,
    weightedSum,
    layerNorm,
    largest,
    drawn,
    chanceFrom,
    spread,
  });
})(globalThis);
