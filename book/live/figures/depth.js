// What a stack of layers leaves of a difference, plain and with sums: each layer multiplies by the same factor.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, signed } = LIVE;
  const WIDTH = 640,
    HEIGHT = 250,
    LEFT = 96, // for the numbers at the axis
    RIGHT = 104, // for the names of the curves
    LOW = -7, // powers of ten at the lower and the upper edge
    HIGH = 5,
    LINE = 22; // that two names keep between them
  const TICKS = [4, 2, 0, -2, -4, -6];

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
    summedOf = (state) => LIVE.leftOfDifference({ ...state, first: 1 });

  // 5.3 · 10⁻⁷, 0.000066, 1.41, 2,328,306: two digits that count, or two behind the point.
  const raised = (power) => Array.from(String(power), (one) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[one] || "⁻").join("");
  function amount(value) {
    if (value < 1e-5) {
      const [digits, power] = value.toExponential(1).split("e");
      return value < 1e-20 ? "0" : digits + "\u00a0·\u00a010" + raised(Number(power));
    }
    const digits = value < 0.1 ? 1 - Math.floor(Math.log10(value)) : 2;
    return value < 100 ? String(value.toFixed(digits)).replace(/\.?0+$/, "") : Math.round(value).toLocaleString("en");
  }

  function curves(state) {
    const x = (layer) => LEFT + ((WIDTH - LEFT - RIGHT) * layer) / state.depth,
      power = (value) => (value > 0 ? Math.log10(value) : -Infinity),
      y = (value) => 8 + ((HEIGHT - 8) * (HIGH - Math.max(LOW, Math.min(HIGH, power(value))))) / (HIGH - LOW),
      past = (value) => (power(value) > HIGH ? " ↑" : power(value) < LOW ? " ↓" : ""); // it leaves the axis
    const line = (left, kind) => [
      make("polyline", { points: left.map((value, layer) => x(layer).toFixed(1) + "," + y(value).toFixed(1)).join(" "), class: kind }),
      left.slice(1).map((value, n) => (past(value) ? null : make("circle", { cx: x(n + 1), cy: y(value), r: 4, class: kind }))),
    ];
    const plain = plainOf(state),
      summed = summedOf(state),
      [low, high] = [y(plain.at(-1)), y(summed.at(-1))],
      near = LINE - Math.abs(low - high), // the two names would lie on each other
      apart = (near > 0 ? near / 2 : 0) * (low < high ? -1 : 1);
    const name = (at, text) => make("text", { x: WIDTH - RIGHT + 12, y: at, "dominant-baseline": "central" }, text);
    const layers = Array.from({ length: state.depth }, (_, n) => n + 1);
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
        make(
          "text",
          { x: LEFT - 8, y: y(10 ** power), "text-anchor": "end", "dominant-baseline": "central" },
          power < -4 ? "10" + raised(power) : amount(10 ** power),
        ),
      ]).flat(),
      line(plain, "plain").flat(),
      line(summed, "summed").flat(),
      name(low + apart, "plain" + past(plain.at(-1))),
      name(high - apart, "sum" + past(summed.at(-1))),
      make("text", { x: x(0), y: HEIGHT + 24, "text-anchor": "end" }, "input"),
      layers
        .filter((layer) => state.depth < 9 || layer % 2 === state.depth % 2)
        .map((layer) => make("text", { x: x(layer), y: HEIGHT + 24, "text-anchor": "middle" }, layer)),
      make("text", { x: WIDTH - RIGHT + 32, y: HEIGHT + 24 }, "layer"),
    );
  }

  function table(plain, summed, depth) {
    const cells = (tag, texts) => texts.map((text) => make(tag, tag === "th" ? { scope: "col" } : {}, text));
    const row = (name, left) => make("tr", {}, make("th", { scope: "row" }, name), cells("td", left.map(amount)));
    // Down to the output of layer 1 a gradient passes all layers but this one.
    const below = (left) => (left[1] ? left.at(-1) / left[1] : 0);
    return make(
      "table",
      { class: "live-table" },
      make("thead", {}, make("tr", {}, cells("th", ["what is left of a …", "plain", "sum"]))),
      make(
        "tbody",
        {},
        row("difference, at the top (" + LIVE.counted(depth, "factor", "factors") + ")", [plain.at(-1), summed.at(-1)]),
        row("gradient, at layer 1 (" + LIVE.counted(depth - 1, "factor", "factors") + " above it)", [below(plain), below(summed)]),
      ),
    );
  }

  LIVE.figure("depth", {
    title: "A stack by hand",
    todo: "Raise the factor until eight plain layers keep at least a hundredth of the difference (the dashed line). Then choose “in the direction of x”, and look for a factor with which the sum loses everything.",
    learned:
      "With the factor 0.6, eight plain layers leave 0.017, and with 0.5 only 0.0039, less than a hundredth. The sum needs no such choice, but it can grow: with 0.3, eight layers leave 1.41 at a right angle, and 8.16 in the direction of x. It can lose everything as well: with the factor −1 in the direction of x, each f(x) cancels its input. A sum keeps the difference only as long as the layers do not learn to cancel it.",
    about: "Nothing is trained here: all layers have the same factor.",
    defaults: { depth: 8, factor: 0.3, turn: "angle" },
    draw(room, state, kept) {
      const said = words(),
        picture = make("div", {}),
        turned = make("p", { class: "live-about" }),
        rows = make("div", {});

      function show() {
        const plain = plainOf(state),
          summed = summedOf(state);
        picture.replaceChildren(curves(state));
        rows.replaceChildren(table(plain, summed, state.depth));
        turned.textContent =
          state.turn === "same"
            ? "This is true of single numbers (with a negative factor, f(x) points against x)."
            : "This is nearly true of vectors of many features, if the layer’s matrix is random.";
        said.say(
          "Of a difference of 1, " +
            LIVE.counted(state.depth, "plain layer leaves ", "plain layers leave ") +
            amount(plain.at(-1)) +
            (plain.at(-1) < 0.01 ? ", less than a hundredth. " : ", at least a hundredth. ") +
            "With sums, " +
            amount(summed.at(-1)) +
            " is left.",
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
        turned,
        picture,
        rows,
        said.element,
      );
      show();
    },
  });
})(globalThis);
