// What a stack of layers leaves of a difference, plain and with sums: each layer multiplies by the same factor.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, signed } = LIVE;
  const WIDTH = 640,
    HEIGHT = 230,
    LEFT = 130, // for the numbers at the axis
    RIGHT = 84, // for the names of the curves
    LOW = -7, // powers of ten at the lower and the upper edge
    HIGH = 4,
    LINE = 22; // that two names keep between them
  const TICKS = [2, 0, -2, -4, -6];

  // What is left of a difference of 1 after 0, 1, …, `depth` layers. From layer `first` on, a layer adds its input: `turn` says
  // whether f(x) is at a right angle to x ("angle") or points in its direction ("same").
  LIVE.leftOfDifference = function ({ factor, depth, turn, first }) {
    const ofLayer = (number) => (number < first ? Math.abs(factor) : turn === "same" ? Math.abs(1 + factor) : Math.hypot(1, factor));
    const left = [1];
    for (let number = 1; number <= depth; number++) {
      left.push(left[number - 1] * ofLayer(number));
    }
    return left;
  };

  const plainOf = (state) => LIVE.leftOfDifference({ ...state, first: Infinity }),
    summedOf = (state) => LIVE.leftOfDifference({ ...state, first: Number(state.first) });

  // 0.000066, 1.41, 2,328,306: two digits that count, or two behind the point, and never with an exponent.
  function amount(value) {
    if (value < 1e-7) {
      return value < 1e-12 ? "0" : "under 0.0000001";
    }
    const digits = value < 0.1 ? 1 - Math.floor(Math.log10(value)) : 2;
    return value < 100 ? String(value.toFixed(digits)).replace(/\.?0+$/, "") : Math.round(value).toLocaleString("en");
  }

  function curves(state) {
    const x = (layer) => LEFT + ((WIDTH - LEFT - RIGHT) * layer) / state.depth,
      height = (value) => Math.max(LOW, Math.min(HIGH, value > 0 ? Math.log10(value) : LOW)),
      y = (value) => 8 + ((HEIGHT - 8) * (HIGH - height(value))) / (HIGH - LOW);
    const line = (left, kind) => [
      make("polyline", { points: left.map((value, layer) => x(layer).toFixed(1) + "," + y(value).toFixed(1)).join(" "), class: kind }),
      left.slice(1).map((value, n) => make("circle", { cx: x(n + 1), cy: y(value), r: 4, class: kind })),
    ];
    const plain = plainOf(state),
      summed = summedOf(state),
      [low, high] = [y(plain.at(-1)), y(summed.at(-1))],
      near = LINE - Math.abs(low - high), // the two names would lie on each other
      apart = (near > 0 ? near / 2 : 0) * (low < high ? -1 : 1);
    const name = (at, text) => make("text", { x: WIDTH - RIGHT + 12, y: at, "dominant-baseline": "central" }, text);
    return make(
      "svg",
      {
        viewBox: [0, 0, WIDTH, HEIGHT + 30].join(" "),
        class: "live-curve",
        role: "img",
        "aria-label": "What is left of a difference of 1 after each layer, on a logarithmic axis, with a line at a hundredth",
      },
      TICKS.map((power) => [
        make("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** power), y2: y(10 ** power), class: power === -2 ? "half" : "axis" }),
        make("text", { x: LEFT - 8, y: y(10 ** power), "text-anchor": "end", "dominant-baseline": "central" }, amount(10 ** power)),
      ]).flat(),
      line(plain, "plain").flat(),
      line(summed, "summed").flat(),
      name(low + apart, "plain"),
      name(high - apart, "sum"),
      make("text", { x: x(0), y: HEIGHT + 24, "text-anchor": "middle" }, "input"),
      make("text", { x: x(state.depth), y: HEIGHT + 24, "text-anchor": "middle" }, "layer " + state.depth),
    );
  }

  function table(plain, summed) {
    const cells = (tag, texts) => texts.map((text) => make(tag, tag === "th" ? { scope: "col" } : {}, text));
    const row = (name, left) => make("tr", {}, make("th", { scope: "row" }, name), cells("td", left.map(amount)));
    // Down to the output of layer 1 a gradient passes all layers but this one.
    const below = (left) => (left[1] ? left.at(-1) / left[1] : 0);
    return make(
      "table",
      { class: "live-table" },
      make("thead", {}, make("tr", {}, cells("th", ["what is left", "plain: f(x)", "sum: x + f(x)"]))),
      make(
        "tbody",
        {},
        row("of the difference, at the top", [plain.at(-1), summed.at(-1)]),
        row("of the gradient, at layer 1", [below(plain), below(summed)]),
      ),
    );
  }

  LIVE.figure("depth", {
    title: "A stack by hand",
    todo: "Lower the number of layers: with how many does the plain stack keep at least a hundredth of the difference (the dashed line)? Then take eight layers again and let f(x) point in the direction of x: what becomes of the sum? Last, move the factor to −1: can a sum lose the difference, too?",
    learned:
      "With the factor 0.3, three plain layers leave 0.027, and a fourth leaves 0.0081, less than a hundredth. The sum loses nothing. At a right angle, eight layers leave 1.41; in the direction of x, they leave 8.16, and sixteen leave 66.54. So a sum can grow, and it can lose everything as well: with the factor −1 in the direction of x, each f(x) cancels its input. A sum keeps the difference only as long as the layers do not learn to cancel it. If the sums begin at the third layer, the first two layers still leave 0.09, and 64 of the 256 paths remain.",
    about:
      "Nothing is trained here: all layers have the same factor. A number f(x) always points in the direction of x, or against it with a negative factor. A vector f(x) of many features is nearly at a right angle to x, if its matrix is random.",
    defaults: { depth: 8, factor: 0.3, turn: "angle", first: "1" },
    draw(room, state, kept) {
      const said = words(),
        picture = make("div", {}),
        rows = make("div", {});

      function show() {
        const plain = plainOf(state),
          summed = summedOf(state),
          lost = plain.findIndex((left) => left < 0.01),
          paths = 2 ** Math.max(0, state.depth + 1 - Number(state.first));
        picture.replaceChildren(curves(state));
        rows.replaceChildren(table(plain, summed));
        said.say(
          "Of a difference of 1, " +
            LIVE.counted(state.depth, "layer leaves ", "layers leave ") +
            amount(plain.at(-1)) +
            " without sums and " +
            amount(summed.at(-1)) +
            " with them. " +
            (lost < 0
              ? "The plain stack keeps more than a hundredth. "
              : "The plain stack falls below a hundredth at layer " + lost + ". ") +
            "With sums, " +
            LIVE.counted(paths, "path leads", "paths lead") +
            " from the input to the top.",
        );
      }
      const change = (key) => (value) => {
        kept({ [key]: value });
        show();
      };
      room.append(
        slider("Layers", { from: 1, to: 16, step: 1, value: state.depth }, change("depth")),
        slider(
          "Factor of a layer, w",
          { from: -1, to: 1.5, step: 0.1, value: state.factor, shown: (factor) => signed(factor, 1) },
          change("factor"),
        ),
        choice(
          "f(x) points",
          [
            ["angle", "at a right angle to x"],
            ["same", "in the direction of x"],
          ],
          state.turn,
          change("turn"),
        ),
        choice(
          "Sums from",
          [
            ["1", "layer 1"],
            ["3", "layer 3, as in GNMT"],
          ],
          state.first,
          change("first"),
        ),
        picture,
        rows,
        said.element,
      );
      show();
    },
  });
})(globalThis);
