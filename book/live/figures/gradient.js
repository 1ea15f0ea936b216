// The gradient of attention in the plane: which score rises if the context should move somewhere else.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, buttons, words, percent, signed, softmax, dot, pairs } = LIVE;
  const NAMES = ["v₁", "v₂", "v₃", "v₄"],
    HUES = [214, 28, 148, 330],
    RANGE = 1.6,
    TARGET = NAMES.length,
    CONTEXT = TARGET + 1;

  // Of the loss ½‖target − context‖²: the gradient of each score is −α (v − c)·(target − c), a row of the softmax's Jacobian.
  LIVE.scoreGradients = function (scores, values, target) {
    const weights = Array.from(softmax(Float64Array.from(scores))),
      context = [0, 1].map((i) => values.reduce((sum, value, n) => sum + weights[n] * value[i], 0));
    const pull = target.map((v, i) => v - context[i]);
    const gradients = values.map(
      (value, n) =>
        -weights[n] *
        dot(
          value.map((v, i) => v - context[i]),
          pull,
        ),
    );
    return { weights, context, pull, gradients };
  };

  LIVE.figure("gradient", {
    title: "Which score should rise?",
    todo: "Drag the target: the context should move there. Which scores rise, which fall? Take some steps of gradient descent. Then press “nearly all weight on v₁” and put the target near v₃: how fast does it learn now?",
    learned:
      "A score rises if its value, seen from the context, lies in the direction of the target; it falls if the value lies on the other side. Each change is multiplied by the weight: a value with hardly any weight receives hardly any gradient, even if it is the right one. And a value with nearly all the weight nearly is the context, so that its own direction is nearly zero. A model that is certain and wrong learns slowly.",
    about: "Four values and their scores, placed by hand; the gradient is that of half the squared distance between context and target.",
    defaults: { scores: [0, 0, 0, 0], values: [-1, 0.9, 1.1, 0.8, 0.9, -0.9, -0.9, -0.7], target: [0.7, 0.3], steps: 0 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" });
      const plane = LIVE.plane({
        label: "Four values, the context and the target",
        range: RANGE,
        moved: move,
        points: [
          ...pairs(state.values).map((at, n) => ({ name: NAMES[n], at, kind: "value", hue: HUES[n] })),
          { name: "target", at: state.target, kind: "query", hue: 0 },
          { name: "context", at: [0, 0], kind: "context", hue: 0, fixed: true },
        ],
      });

      function move(number, at) {
        kept(number === TARGET ? { target: at } : { values: state.values.toSpliced(2 * number, 2, ...at) });
        show();
      }
      const line = (from, to, width, kind) =>
        make("line", {
          x1: from[0] * plane.unit,
          y1: -from[1] * plane.unit,
          x2: to[0] * plane.unit,
          y2: -to[1] * plane.unit,
          "stroke-width": width,
          class: kind,
        });

      function show() {
        const values = pairs(state.values),
          found = LIVE.scoreGradients(state.scores, values, state.target),
          { weights, context, gradients } = found;
        values.forEach((at, n) => plane.show(n, { at, words: "weight " + percent(weights[n]) }));
        plane.show(TARGET, { at: state.target, words: "at " + state.target.map((v) => signed(v)).join(", ") });
        plane.show(CONTEXT, { at: context });
        plane.under.replaceChildren(
          ...values.map((value, n) => line(context, value, 1 + 8 * weights[n], "spoke")),
          line(context, state.target, 3, "pull"),
        );
        board.replaceChildren(
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ["value", "weight α", "direction (v − c)·(target − c)", "score changes by"].map((name) => make("th", { scope: "col" }, name)),
            ),
          ),
          make(
            "tbody",
            {},
            NAMES.map((name, n) =>
              make(
                "tr",
                { style: "--hue:" + HUES[n] },
                make("th", { scope: "row" }, name),
                make("td", {}, percent(weights[n])),
                make("td", {}, signed(weights[n] > 1e-12 ? -gradients[n] / weights[n] : 0)),
                make("td", {}, (gradients[n] < 0 ? "+" : "") + signed(-gradients[n], 3)),
              ),
            ),
          ),
        );
        const order = gradients.map((g, n) => [g, NAMES[n]]).sort((a, b) => a[0] - b[0]);
        said.say(
          "The score of " +
            order[0][1] +
            " rises most (by " +
            signed(-order[0][0], 3) +
            "), that of " +
            order[order.length - 1][1] +
            " falls most. Distance from context to target: " +
            Math.hypot(...found.pull).toFixed(2) +
            " after " +
            state.steps +
            " steps.",
        );
      }

      const descend = (count) => () => {
        for (let i = 0; i < count; i++) {
          const { gradients } = LIVE.scoreGradients(state.scores, pairs(state.values), state.target);
          kept({ scores: state.scores.map((score, n) => score - gradients[n]), steps: state.steps + 1 });
        }
        show();
      };
      const set = (scores) => () => {
        kept({ scores, steps: 0 });
        show();
      };
      room.append(
        buttons(
          ["One step of gradient descent", descend(1)],
          ["Ten steps", descend(10)],
          ["equal scores", set([0, 0, 0, 0])],
          ["nearly all weight on v₁", set([6, 0, 0, 0])],
        ),
        make("div", { class: "live-view" }, plane.element, make("div", {}, board, said.element)),
      );
      show();
    },
  });
})(globalThis);
