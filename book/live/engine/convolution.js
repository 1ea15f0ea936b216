// Convolutions with windows of 3 × 3 and a border of zeros.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;

  // Planes of rows × columns numbers in and out; `biases` are added, one for each plane that comes out, if there are any.
  LIVE.convolve = function (W, biases, planes, rows, columns) {
    const count = planes.length;
    return Array.from({ length: W.length / (9 * count) }, (_, out) => {
      const result = new Float32Array(rows * columns).fill(biases ? biases[out] : 0);
      planes.forEach((plane, from) => {
        for (let k = 0, at = (out * count + from) * 9; k < 9; k++) {
          const w = W[at + k],
            dy = Math.floor(k / 3) - 1,
            dx = (k % 3) - 1;
          for (let y = Math.max(0, -dy); y < Math.min(rows, rows - dy); y++) {
            for (let x = Math.max(0, -dx); x < Math.min(columns, columns - dx); x++) {
              result[y * columns + x] += w * plane[(y + dy) * columns + x + dx];
            }
          }
        }
      });
      return result;
    });
  };
})(globalThis);
