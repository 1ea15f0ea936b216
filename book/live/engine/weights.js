// Trained weights, handed over by a script (a page from the disk may load scripts, but no other files):
// weights/NAME.js calls LIVE.weights("NAME", { tensors, data, … }). book/_ext/live_weights.py writes it.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});
  const packs = new Map(),
    waiting = new Map(),
    loads = new Map();

  Object.assign(LIVE, { BOS: 1, EOS: 2 }); // where a text begins and ends, in every vocabulary

  LIVE.weights = function (name, packed) {
    packs.set(name, packed);
    if (waiting.has(name)) {
      waiting.get(name)(packed);
    }
  };

  // Loads BASE/NAME.js once; a promise of what was packed, its tensors as Float32Arrays by name.
  LIVE.load = function (name, base = "") {
    if (!loads.has(name)) {
      loads.set(
        name,
        new Promise((resolve, reject) => {
          if (packs.has(name)) {
            resolve(packs.get(name));
            return;
          }
          waiting.set(name, resolve);
          const script = document.createElement("script");
          script.src = base + name + ".js";
          script.onerror = () => {
            loads.delete(name); // so that another press tries again
            reject(new Error("its weights could not be loaded from " + script.src));
          };
          document.head.append(script);
        }).then(LIVE.unpack),
      );
    }
    return loads.get(name);
  };

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) {
      return Uint8Array.fromBase64(base64);
    }
    const text = atob(base64),
      bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) {
      bytes[i] = text.charCodeAt(i);
    }
    return bytes;
  }

  // The number that 16 bits are in half precision.
  function half(bits) {
    const sign = bits >> 15 ? -1 : 1,
      exponent = (bits >> 10) & 31,
      fraction = bits & 1023;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
  }

  // Each tensor is [name, rows, columns, "half" or "byte", where it begins]; rows of bytes have a scale each, in front.
  LIVE.unpack = function (packed) {
    const bytes = bytesOf(packed.data),
      tensors = {},
      room = LIVE.roomFor(packed.tensors.map(([, rows, columns]) => [rows, columns]));
    const halves = (at, out) => {
      const bits = new Uint16Array(bytes.buffer, bytes.byteOffset + at, out.length);
      for (let i = 0; i < out.length; i++) {
        out[i] = half(bits[i]);
      }
      return out;
    };
    packed.tensors.forEach(([name, rows, columns, kind, at], n) => {
      const out = (tensors[name] = room[n]);
      if (kind === "half") {
        halves(at, out);
        return;
      }
      const scales = halves(at, new Float32Array(rows)),
        numbers = new Int8Array(bytes.buffer, bytes.byteOffset + at + 2 * rows, rows * columns);
      // a plain loop: millions of calls would take a second
      for (let row = 0, i = 0; row < rows; row++) {
        for (const end = i + columns, scale = scales[row]; i < end; i++) {
          out[i] = numbers[i] * scale;
        }
      }
    });
    return { ...packed, data: null, tensors };
  };

  // Layers by name: at("encoder.rnn").linear(x) is W x + b with the weights of that name, and linearAll(xs) that of each x.
  LIVE.layers = (tensors) => (name) => {
    const W = tensors[name + ".weight"],
      b = tensors[name + ".bias"];
    return {
      weight: W,
      linear: (x) => LIVE.linear(W, b, x),
      linearAll: (xs) => LIVE.linearAll(W, b, xs),
      norm: (x) => LIVE.layerNorm(W, b, x),
      row: (number, width) => W.subarray(number * width, (number + 1) * width),
    };
  };
})(globalThis);
