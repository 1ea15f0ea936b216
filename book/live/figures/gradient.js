// The gradient of attention in the plane: which score rises if the context should move somewhere else.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, buttons, words, counted, percent, signed, softmax, dot, pairs, planeLine } = LIVE;
  const NAMES = ["forty", "two", "comma", "seven"],
    HUES = [214, 28, 148, 330],
    VALUES = [4, 0, 0, 2, 0, 0, 0, 7], // tens and ones of each
    TARGET = NAMES.length,
    CONTEXT = TARGET + 1,
    RATE = 0.1, // of gradient descent; from about 0.25 on the steps may jump to and fro
    MOST = 5000; // steps that are tried

  // Of the loss ½‖target − context‖², whose gradient for the context is c − target: the gradient of each score,
  // α (h − c)·(c − target), and its second factor (chapter 2, the gradient of the scores).
  LIVE.scoreGradients = function (scores, values, target) {
    const weights = Array.from(softmax(Float64Array.from(scores))),
      context = [0, 1].map((i) => values.reduce((sum, value, n) => sum + weights[n] * value[i], 0));
    const slope = context.map((v, i) => v - target[i]);
    const against = values.map((value) =>
      dot(
        value.map((v, i) => v - context[i]),
        slope,
      ),
    );
    return { weights, context, slope, against, gradients: against.map((one, n) => weights[n] * one) };
  };

  const descended = (scores, gradients) => scores.map((score, n) => score - RATE * gradients[n]);

  // After how many steps of gradient descent the context is half as far from the target; undefined: not after MOST.
  LIVE.stepsToHalf = function (scores, values, target) {
    const far = ({ slope }) => Math.hypot(...slope);
    let found = LIVE.scoreGradients(scores, values, target);
    const half = far(found) / 2;
    for (let steps = 1; steps <= MOST; steps++) {
      scores = descended(scores, found.gradients);
      found = LIVE.scoreGradients(scores, values, target);
      if (far(found) <= half) {
        return steps;
      }
    }
    return undefined;
  };

  // How far a target is from the nearest context that weights can give: 0 between the values (in a triangle of three of them),
  // else its distance from the nearest line between two of them.
  LIVE.outside = function (target, values) {
    const side = ([ax, ay], [bx, by]) => (bx - ax) * (target[1] - ay) - (by - ay) * (target[0] - ax),
      pairsOf = values.flatMap((a, i) => values.slice(i + 1).map((b) => [a, b]));
    const within = pairsOf.some(([a, b]) =>
      values.some((c) => {
        const sides = [side(a, b), side(b, c), side(c, a)];
        return sides.every((s) => s > 0) || sides.every((s) => s < 0);
      }),
    );
    const toLine = ([a, b]) => {
      const along = b.map((v, i) => v - a[i]),
        from = target.map((v, i) => v - a[i]),
        share = Math.max(0, Math.min(1, dot(from, along) / (dot(along, along) || 1)));
      return Math.hypot(...from.map((v, i) => v - share * along[i]));
    };
    return within ? 0 : Math.min(...pairsOf.map(toLine));
  };

  // The line on which a value's score neither rises nor falls: through the context, at right angles to the way to the target.
  function border(context, slope) {
    const long = Math.hypot(...slope);
    if (long < 1e-6) {
      return [];
    }
    const along = [-slope[1] / long, slope[0] / long],
      end = (side) => context.map((v, i) => v + 20 * side * along[i]);
    return [[end(-1), end(1)]];
  }

  const near = (a, b) => a.every((v, i) => Math.abs(v - b[i]) < 1e-6);
  // Where a reader may start: what stands on the button, and what is set.
  const STARTS = [
    ["zwei, as in the text", { scores: [0, Math.log(7), 0, 0], target: [0, 2] }],
    ["equal scores", { scores: [0, 0, 0, 0], target: [0, 7] }],
    ["certain and wrong", { scores: [0, 7, 0, 0], target: [0, 7] }],
  ];

  // `before`: the weights at the start, beside which those of now stand once steps were taken.
  function table({ weights, against, gradients }, before, steps) {
    const head = ["value h", "weight α", "g · (h − c)", "gradient", "its score"];
    const moves = (gradient) => (Math.abs(gradient) < 0.0005 ? "stays" : gradient < 0 ? "rises ↑" : "falls ↓");
    const share = (n) => LIVE.unbroken((steps ? percent(before[n]) + " → " : "") + percent(weights[n]));
    const row = (name, n) =>
      [share(n), signed(against[n], 3), signed(gradients[n], 3), moves(gradients[n])].map((text, c) =>
        make("td", { class: c ? null : "bar" }, text),
      );
    const styled = (n) => "white-space:nowrap;--hue:" + HUES[n] + ";--w:" + weights[n].toFixed(3);
    return [
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          head.map((name) => make("th", { scope: "col", style: "white-space:nowrap" }, name)),
        ),
      ),
      make(
        "tbody",
        {},
        NAMES.map((name, n) => make("tr", { style: styled(n) }, make("th", { scope: "row" }, name), row(name, n))),
      ),
    ];
  }

  // Why one score rises most: it is alone, or its value lies farthest on the target's side, or it has the largest weight there.
  function reason({ weights, against, gradients }) {
    const rising = gradients.map((_, n) => n).filter((n) => gradients[n] < 0),
      first = (numbers) => rising.reduce((a, b) => (numbers[b] < numbers[a] ? b : a));
    if (!rising.length) {
      return "";
    }
    const top = first(gradients),
      heaviest = first(weights.map((w) => -w));
    const begin = "The score of “" + NAMES[top] + "” rises" + (rising.length > 1 ? " most" : "") + ": ";
    return (
      begin +
      (rising.length === 1
        ? "its value alone lies on the target’s side of the context."
        : top === first(against) && (top !== heaviest || weights[top] - Math.min(...rising.map((n) => weights[n])) < 0.01)
          ? "seen from the context, its value lies farthest on the target’s side."
          : top === heaviest
            ? "of the values on the target’s side, its value has the largest weight."
            : "of the values on the target’s side, its value has the largest product of weight and distance.") +
      " "
    );
  }

  LIVE.figure("gradient", {
    title: "Which score should rise?",
    todo: "The orange dot is the context, and the ring is the target, where it should be. Drag the ring to another place: for each value, guess first whether its score rises or falls, then look at the last column. What does the thin dashed line separate? Afterwards start from “equal scores”, and then from “certain and wrong”. Both have the same target, seven: how many steps halve the distance to it?",
    learned:
      "A score rises if its value, seen from the context, lies on the target’s side, and falls if it lies on the other side; the thin dashed line separates the two. The gradient is multiplied by the weight. So a value with hardly any weight receives hardly any gradient, even if it is the right one, and a value with nearly all the weight nearly is the context, so that h − c is nearly zero. From “certain and wrong” half of the way takes hundreds of steps; from equal scores it takes a few.",
    about:
      "Squares: two features of the values in the example of Chapter 2, how many ones (upwards) and how many tens (to the right). The loss does not depend on the third, the item. g = c − target is the gradient of half the squared distance, and the gradient of a score is its weight times g · (h − c). A step changes each score by −0.1 times its gradient; the step in the text is ten times as large.",
    defaults: { ...STARTS[0][1], from: STARTS[0][1].scores, values: VALUES, steps: 0 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" }),
        starts = make("div", {});
      // Which of STARTS the steps began with; −1: none of them.
      const begun = () =>
        near(state.values, VALUES) ? STARTS.findIndex(([, one]) => near(one.scores, state.from) && near(one.target, state.target)) : -1;
      const plane = LIVE.plane({
        label: "Four values, the context and the target",
        middle: [1.9, 3.3],
        range: 4.6,
        moved: move,
        points: [
          ...pairs(state.values).map((at, n) => ({ name: NAMES[n], at, kind: "value", hue: HUES[n] })),
          { name: "target", at: state.target, kind: "target", hue: 0 },
          { name: "context", at: [0, 0], kind: "context", hue: 0, fixed: true },
        ],
      });

      function move(number, at) {
        kept({ from: state.scores });
        kept(number === TARGET ? { target: at, steps: 0 } : { values: state.values.toSpliced(2 * number, 2, ...at), steps: 0 });
        show();
      }

      function show() {
        const values = pairs(state.values),
          found = LIVE.scoreGradients(state.scores, values, state.target),
          origin = LIVE.scoreGradients(state.from, values, state.target), // where the steps began
          { weights, context, slope } = found,
          position = (at) => "at " + at.map((v) => signed(v)).join(", ");
        values.forEach((at, n) => plane.show(n, { at, radius: 7, words: position(at) + ", weight " + percent(weights[n]) })); // the context beside one is seen
        plane.show(TARGET, { at: state.target, radius: 24, words: position(state.target) }); // a ring around the value below it
        plane.show(CONTEXT, { at: context, radius: 6 });
        plane.under.replaceChildren(
          ...values.map((value, n) => planeLine(plane, context, value, { "stroke-width": 1 + 8 * weights[n], class: "spoke" })),
          planeLine(plane, context, state.target, { "stroke-width": 3, class: "pull" }),
          ...border(context, slope).map(([a, b]) => planeLine(plane, a, b, { "stroke-width": 1.5, class: "pull" })),
          planeLine(plane, origin.context, context, { style: "stroke-width:4;stroke:var(--pa-orange)" }), // the way so far
        );
        board.replaceChildren(...table(found, origin.weights, state.steps));
        const steps = LIVE.stepsToHalf(state.scores, values, state.target);
        const half = steps
          ? "From here, " + counted(steps, "more step halves", "more steps halve") + " it."
          : LIVE.outside(state.target, values) > Math.hypot(...slope) / 2
            ? "No weights halve it, because the context always stays between the values, and the target lies outside."
            : "This is slow: even " + MOST.toLocaleString("en") + " more steps do not halve it.";
        said.say(
          reason(found) +
            "The distance from the context to the target is " +
            Math.hypot(...slope).toFixed(2) +
            (state.steps ? ", after " + counted(state.steps, "step") + ". " : ". ") +
            half,
        );
        const chosen = begun();
        LIVE.refill(starts, buttons(...STARTS.map(([name, changes], n) => [name, set(changes), n === chosen])));
      }

      const descend = (count) => () => {
        for (let i = 0; i < count; i++) {
          const { gradients } = LIVE.scoreGradients(state.scores, pairs(state.values), state.target);
          kept({ scores: descended(state.scores, gradients), steps: state.steps + 1 });
        }
        show();
      };
      const set = (changes) => () => {
        kept({ ...changes, from: changes.scores, values: VALUES, steps: 0 });
        show();
      };
      room.append(
        make("p", { class: "live-head" }, "Start from"),
        starts,
        make(
          "div",
          { class: "live-view" },
          plane.element,
          make("div", {}, buttons(["ten steps", descend(10)], ["a hundred steps", descend(100)]), said.element),
        ),
        board,
      );
      show();
    },
  });
})(globalThis);
