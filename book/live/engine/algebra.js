// Vectors and matrices for the live figures: a vector is a Float32Array, a sequence an Array of vectors.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});

  // W x + b, with W (out, in) row by row. Eight rows at once, because then each number of x is fetched once for all of them, and
  // no sum has to wait for itself.
  function linear(W, b, x) {
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
    return b ? plus(out, b) : out;
  }

  // a · b, of the features from … to.
  function dot(a, b, from = 0, to = a.length) {
    let sum = 0;
    for (let i = from; i < to; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  const plus = (a, b) => a.map((x, i) => x + b[i]);
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
  const softmax = (scores) => logSoftmax(scores).map(Math.exp);

  // The weighted sum Σ weight · row, of the features from … to: a context.
  function weightedSum(weights, rows, from = 0, to = rows[0].length) {
    const out = new Float32Array(to - from);
    rows.forEach((row, at) => {
      for (let i = 0; i < out.length; i++) {
        out[i] += weights[at] * row[from + i];
      }
    });
    return out;
  }

  function layerNorm(gain, bias, x) {
    const mean = x.reduce((a, b) => a + b, 0) / x.length;
    const scale = 1 / Math.sqrt(x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length + 1e-5);
    return x.map((value, i) => (value - mean) * scale * gain[i] + bias[i]);
  }

  // The positions of the `count` largest numbers, largest first; of equal ones the first. (Sorting all would take longer.)
  function largest(numbers, count) {
    const found = [];
    numbers.forEach((number, at) => {
      if (found.length === count && number <= numbers[found[count - 1]]) {
        return;
      }
      let position = found.length;
      while (position > 0 && numbers[found[position - 1]] < number) {
        position--;
      }
      found.splice(position, 0, at);
      found.length = Math.min(found.length, count);
    });
    return found;
  }

  // A position drawn with these chances, for a number from 0 to 1; the first one if rounding leaves none.
  function drawn(chances, left) {
    return Math.max(
      0,
      chances.findIndex((chance) => (left -= chance) < 0),
    );
  }

  // How many equal weights would be as spread as these: 2 to the power of their entropy in bits.
  const spread = (weights) => 2 ** -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log2(w) : 0), 0);

  Object.assign(LIVE, {
    linear,
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
    spread,
  });
})(globalThis);
