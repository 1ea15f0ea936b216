// The gradient of attention in the plane: which score rises if the context should move somewhere else.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, buttons, words, counted, percent, signed, softmax, dot, pairs, planeLine } = LIVE;
  const NAMES = ["forty", "two", "comma", "seven"],
    HUES = [214, 28, 148, 330],
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

  function table({ weights, against, gradients }) {
    const head = ["value h", "weight α", "g · (h − c)", "gradient of the score (↑ it rises)"];
    const moves = (gradient) => (Math.abs(gradient) < 0.0005 ? "" : gradient < 0 ? " ↑" : " ↓");
    const row = (name, n) =>
      [percent(weights[n]), signed(against[n], 3), signed(gradients[n], 3) + moves(gradients[n])].map((text) => make("td", {}, text));
    return [
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          head.map((name) => make("th", { scope: "col" }, name)),
        ),
      ),
      make(
        "tbody",
        {},
        NAMES.map((name, n) => make("tr", {}, make("th", { scope: "row" }, name), row(name, n))),
      ),
    ];
  }

  LIVE.figure("gradient", {
    title: "Which score should rise?",
    todo: "Drag the target (the ring), where the context should be: which scores rise, which fall? Then press “certain and wrong”, where two has nearly all the weight and the target is near seven, and compare its number of steps with that of “equal scores”.",
    learned:
      "A score rises if its value, seen from the context, lies on the target's side, and falls if it lies on the other side. The gradient is multiplied by the weight. So a value with hardly any weight receives hardly any gradient, even if it is the right one, and a value with nearly all the weight nearly is the context, so that h − c is nearly zero. From “certain and wrong” half of the way takes hundreds of steps; from equal scores it takes a few.",
    about:
      "Two features of the values in the example of Chapter 2, how many tens and how many ones (the loss does not depend on the third, the item of the list), and at the start the scores of zwei and its target (0, 2), which is the value of two. Here g = c − target, the gradient of half the squared distance. A step changes each score by −0.1 times its gradient; the step in the text is ten times as large.",
    defaults: { scores: [0, Math.log(7), 0, 0], values: [4, 0, 0, 2, 0, 0, 0, 7], target: [0, 2], steps: 0 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" });
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
        kept(number === TARGET ? { target: at, steps: 0 } : { values: state.values.toSpliced(2 * number, 2, ...at), steps: 0 });
        show();
      }

      function show() {
        const values = pairs(state.values),
          found = LIVE.scoreGradients(state.scores, values, state.target),
          { weights, context, gradients, slope } = found,
          position = (at) => "at " + at.map((v) => signed(v)).join(", ");
        values.forEach((at, n) => plane.show(n, { at, words: position(at) + ", weight " + percent(weights[n]) }));
        plane.show(TARGET, { at: state.target, radius: 19, words: position(state.target) }); // a ring around the value below it
        plane.show(CONTEXT, { at: context, radius: 8 });
        plane.under.replaceChildren(
          ...values.map((value, n) => planeLine(plane, context, value, { "stroke-width": 1 + 8 * weights[n], class: "spoke" })),
          planeLine(plane, context, state.target, { "stroke-width": 3, class: "pull" }),
        );
        board.replaceChildren(...table(found));
        const order = NAMES.map((name, n) => [gradients[n], name]).sort((a, b) => a[0] - b[0]),
          steps = LIVE.stepsToHalf(state.scores, values, state.target);
        const half = steps
          ? "From here, " + counted(steps, "more step halves", "more steps halve") + " it."
          : LIVE.outside(state.target, values) > Math.hypot(...slope) / 2
            ? "No weights halve it, because the context always stays between the values, and the target lies outside."
            : "This is slow: even " + MOST.toLocaleString("en") + " more steps do not halve it.";
        said.say(
          (order[0][0] < 0 ? "The score of " + order[0][1] + " rises most, that of " + order[NAMES.length - 1][1] + " falls most. " : "") +
            "From the context to the target it is " +
            Math.hypot(...slope).toFixed(2) +
            (state.steps ? ", after " + counted(state.steps, "step") + ". " : ". ") +
            half,
        );
      }

      const descend = (count) => () => {
        for (let i = 0; i < count; i++) {
          const { gradients } = LIVE.scoreGradients(state.scores, pairs(state.values), state.target);
          kept({ scores: descended(state.scores, gradients), steps: state.steps + 1 });
        }
        show();
      };
      const set = (changes) => () => {
        kept({ ...changes, steps: 0 });
        show();
      };
      room.append(
        buttons(
          ["one step of gradient descent", descend(1)],
          ["ten steps", descend(10)],
          ["equal scores", set({ scores: [0, 0, 0, 0] })],
          ["certain and wrong", set({ scores: [0, 7, 0, 0], target: [0.3, 6.3] })],
        ),
        make("div", { class: "live-view" }, plane.element, make("div", {}, board, said.element)),
      );
      show();
    },
  });
})(globalThis);
