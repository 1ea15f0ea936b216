// Canvases with small images of digits, as the captioners of chapter 6 see them.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    SIDE = 28, // of a canvas
    GRID = 7, // cells along a side of the feature map
    WIDE = 8; // a digit
  // One held-out image per digit, 8 × 8 pixels from 0 to g = 16 (Alpaydin and Kaynak 1998, UCI; CC BY 4.0).
  const DIGITS = [
    "002fd200008gfc00009e1f5000ed0b9003gb0c9002g32g6001dbfe00004gf500",
    "0003fg10007fge0004ggfd000082fd000000gf000000gc000001gg200003fd10",
    "00d9000008gf0000099d2000000b3000001d0000004d000001df8cb000cggc20",
    "008g800000g6f10004a0c2000007g3000005dg3000000b6000c99g20008gf700",
    "0002e500001bb000007e100005g346200egegga009c78g400000dc000003f600",
    "009ggg40008g540001f9000009f8730003cceg5000001bc000121ba0009ggg40",
    "0007f000006f800000d9000002g5410005gggc3001f418c0008e55f00006ggb0",
    "002dg80000d77d0001707d20001aggd0006dg2000015b000000c4000002e0000",
    "0018d100006gg90001fgga0006fe60000376600001a2b000004bd2000005c500",
    "018bdc0005904g1007505g5001dbd680003414800000075002812e00008db300",
  ];

  // The canvas with these digits: [digit, row, column, …] -> 28 × 28 numbers from 0 to 1.
  LIVE.canvasOf = function (placed, ink = []) {
    const image = new Float32Array(SIDE * SIDE);
    for (let n = 0; n < placed.length; n += 3) {
      Array.from(DIGITS[placed[n]], (letter, i) => {
        const at = (placed[n + 1] + Math.floor(i / WIDE)) * SIDE + placed[n + 2] + (i % WIDE);
        image[at] = Math.max(image[at], parseInt(letter, 17) / 16);
      });
    }
    ink.forEach((at) => (image[at] = 1));
    return image;
  };

  // The placed digits as objects.
  LIVE.digitsOf = (placed) =>
    Array.from({ length: placed.length / 3 }, (_, n) => {
      const [digit, row, column] = placed.slice(3 * n, 3 * n + 3);
      return { digit, row, column, n };
    });

  // The one that covers most of a cell of the feature map, if any does.
  LIVE.digitOn = function (placed, cell) {
    const size = SIDE / GRID,
      shared = (from, to) => Math.max(0, Math.min(from + size, to + WIDE) - Math.max(from, to));
    const covered = ({ row, column }) => shared(Math.floor(cell / GRID) * size, row) * shared((cell % GRID) * size, column);
    return LIVE.digitsOf(placed)
      .filter((one) => covered(one) > 0)
      .sort((a, b) => covered(b) - covered(a))[0];
  };

  // What lies in a cell of the feature map: the digit that covers most of it, and −1 for what was drawn.
  LIVE.below = function (placed, ink, cell) {
    const digit = LIVE.digitOn(placed, cell),
      inCell = (at) => Math.floor(at / SIDE / (SIDE / GRID)) * GRID + Math.floor((at % SIDE) / (SIDE / GRID)) === cell;
    return [...(digit ? [digit.digit] : []), ...(ink.some(inCell) ? [-1] : [])];
  };

  // Paints a canvas four times as large, and returns its pen.
  LIVE.paintCanvas = function (element, image) {
    Object.assign(element, { width: SIDE * 4, height: SIDE * 4 });
    const pen = element.getContext("2d");
    image.forEach((v, i) => {
      pen.fillStyle = "rgb(" + [0, 1, 2].map(() => Math.round(255 - 225 * v)).join() + ")";
      pen.fillRect((i % SIDE) * 4, Math.floor(i / SIDE) * 4, 4, 4);
    });
    return pen;
  };

  // The same with the weights of the feature map's cells, the cell that was read, and frames around some digits.
  LIVE.paintWeights = function (element, image, { weights, location }, framed) {
    const pen = LIVE.paintCanvas(element, image),
      most = Math.max(...weights),
      cell = (SIDE * 4) / GRID;
    weights.forEach((w, i) => {
      const corner = [(i % GRID) * cell, Math.floor(i / GRID) * cell];
      pen.fillStyle = "rgba(20,90,190," + ((0.75 * w) / most).toFixed(3) + ")";
      pen.fillRect(...corner, cell, cell);
      if (i === location) {
        pen.lineWidth = 2;
        pen.strokeRect(corner[0] + 1, corner[1] + 1, cell - 2, cell - 2);
      }
    });
    pen.setLineDash([4, 3]);
    framed.forEach(({ row, column }) => pen.strokeRect(column * 4 - 0.5, row * 4 - 0.5, 4 * WIDE + 1, 4 * WIDE + 1));
  };
  LIVE.CANVAS = { SIDE, WIDE };
})(globalThis);
