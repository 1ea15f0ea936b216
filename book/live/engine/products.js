// The product of a matrix with several vectors, four numbers at a time: the inner loop of every model, in WebAssembly, which
// is written out below instruction by instruction. Where a browser lacks these instructions, algebra.js computes the same.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});
  const AT_ONCE = 16; // vectors that the scratch memory holds

  // Parameters and variables, by number. Addresses and lengths are in bytes.
  const [W, X, OUT, ROW, ROWS, COUNT, STRIDE, x, w, out, left, vectors] = Array(12).keys(),
    sums = [12, 13, 14, 15], // of four rows, four partial sums each
    four = 16; // numbers of a vector
  const get = (variable) => [0x20, variable],
    set = (variable) => [0x21, variable],
    whole = (number) => [0x41, number],
    add = [0x6a],
    minus = [0x6b],
    simd = (code, ...rest) => [0xfd, ...(code < 128 ? [code] : [(code & 127) | 128, code >> 7]), ...rest];
  const increase = (variable, by) => [get(variable), by, add, set(variable)],
    // Repeats while the variable, made less by so much each time, isn't zero.
    repeat = (variable, less, ...body) => [0x03, 0x40, body, get(variable), less, minus, 0x22, variable, 0x0d, 0, 0x0b];
  const load = simd(0, 4, 0), // four numbers
    times = simd(0xe6),
    plus = simd(0xe4),
    zero = simd(12, Array(16).fill(0)),
    lane = (n) => simd(0x1f, n),
    store = (n) => [0x38, 2, 4 * n]; // one number, as the n-th from here
  const sumOf = (n) => [get(sums[n]), lane(0), [1, 2, 3].map((k) => [get(sums[n]), lane(k), 0x92])];
  const PROGRAM = repeat(
    ROWS,
    whole(4),
    [get(X), set(x), get(OUT), set(out), get(COUNT), set(vectors)],
    repeat(
      vectors,
      whole(1),
      [get(W), set(w), get(ROW), set(left), sums.map((sum) => [zero, set(sum)])],
      repeat(
        left,
        whole(16),
        [get(x), load, set(four)],
        sums.map((sum, n) => [get(sum), get(w), Array(n).fill([get(ROW), add]), load, get(four), times, plus, set(sum)]),
        increase(x, whole(16)),
        increase(w, whole(16)),
      ),
      sums.map((_, n) => [get(out), sumOf(n), store(n)]),
      increase(out, get(STRIDE)),
    ),
    increase(W, [get(ROW), whole(2), 0x74]),
    increase(OUT, whole(16)),
  ).flat(Infinity);

  // A module of WebAssembly: the type of the one function, the memory that it is given, its export, and its code.
  const size = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...size(n >> 7)]),
    list = (bytes) => [...size(bytes.length), ...bytes],
    section = (number, ...bytes) => [number, ...list(bytes.flat(Infinity))];
  const I32 = 0x7f,
    V128 = 0x7b,
    BODY = [2, 5, I32, 5, V128, PROGRAM, 0x0b].flat();
  const MODULE = Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 1, 0x60, list(Array(7).fill(I32)), 0),
    ...section(2, 1, 1, 0x6d, 1, 0x6d, 2, 0, 1), // memory "m" of "m"
    ...section(3, 1, 0),
    ...section(7, 1, 1, 0x70, 0, 0), // the function as "p"
    ...section(10, 1, list(BODY)),
  ]);

  const known = new WeakMap(); // the product of each memory
  let compiled = null;
  try {
    compiled = new WebAssembly.Module(MODULE);
  } catch {
    compiled = null; // no such instructions here, or the page's rules forbid them
  }
  LIVE.fastProducts = compiled !== null;

  // Room for matrices of these [rows, columns], as Float32Arrays. `product(W, xs)` is fast for such matrices.
  LIVE.roomFor = function (shapes) {
    const aligned = (count) => 4 * Math.ceil(count / 4);
    if (!LIVE.fastProducts || !shapes.length) {
      return shapes.map(([rows, columns]) => new Float32Array(rows * columns));
    }
    const widest = AT_ONCE * aligned(Math.max(...shapes.map(([, columns]) => columns))),
      longest = AT_ONCE * aligned(Math.max(...shapes.map(([rows]) => rows))),
      starts = shapes.reduce((found, [rows, columns]) => found.concat(found.at(-1) + aligned(rows * columns)), [widest + longest]);
    const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * starts.at(-1)) / 65536) }),
      { p } = new WebAssembly.Instance(compiled, { m: { m: memory } }).exports,
      all = new Float32Array(memory.buffer);
    known.set(memory.buffer, (matrix, xs) => {
      const n = xs[0].length,
        rows = matrix.length / n;
      xs.forEach((one, k) => all.set(one, k * n));
      p(matrix.byteOffset, 0, 4 * widest, 4 * n, rows, xs.length, 4 * rows);
      return xs.map((_, k) => all.slice(widest + k * rows, widest + (k + 1) * rows));
    });
    return shapes.map(([rows, columns], n) => all.subarray(starts[n], starts[n] + rows * columns));
  };

  // W x for each x, or null where that has to be computed without WebAssembly. Rows and columns go by fours.
  LIVE.product = function (matrix, xs) {
    const found = known.get(matrix.buffer),
      n = xs[0].length;
    if (!found || n % 4 || (matrix.length / n) % 4) {
      return null;
    }
    const parts = Array.from({ length: Math.ceil(xs.length / AT_ONCE) }, (_, k) => xs.slice(k * AT_ONCE, (k + 1) * AT_ONCE));
    return parts.flatMap((part) => found(matrix, part));
  };
})(globalThis);
