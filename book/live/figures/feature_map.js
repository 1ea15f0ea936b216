// Attention over a small map: the reader paints positions, chooses the one that attends, and sharpens its scores (chapter 16).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, words, softmax } = LIVE;
  const SIDE = 4,
    N = SIDE * SIDE,
    DIGITS = 3, // of each weight
    SIGNS = ["", "●", "■"],
    NAMES = ["empty", "a circle", "a square"],
    PLACES = Array.from({ length: SIDE }, (_, i) => String(i + 1));
  const TOOLS = [
    [3, "choose the query"],
    [1, "draw ●"],
    [2, "draw ■"],
    [0, "erase"],
  ];

  // The weights of position `query`: β times the dot product of its feature and theirs, 1 for the same form, else 0.
  LIVE.mapWeights = (signs, query, beta) =>
    Array.from(softmax(Float64Array.from(signs, (sign) => (sign && sign === signs[query] ? beta : 0))));

  // The weighted sum of the colours: −1 for a circle, 1 for a square, and 0 for an empty position and the query itself.
  LIVE.mapColour = (signs, query, weights) => signs.reduce((sum, sign, i) => sum + (i === query ? 0 : weights[i] * [0, -1, 1][sign]), 0);

  LIVE.figure("feature_map", {
    title: "Attention over a map of 4 × 4 positions",
    todo: "The two corners have the same form, and the upper left one attends. How much weight does the other corner receive? Which step of β is the first with which it receives more than 0.45? Then draw more circles: what happens to the weight of each? Choose an empty position as the query, too.",
    learned:
      "With β = 3 each corner has the weight 0.371, however far apart the two are: move the second circle to any position, and its weight stays the same. Each has more than 0.45 where β is larger than ln 63 = 4.14, so that 4.5 is the first step of the slider with which it does. The position itself always takes as much as its partner, because both have the same form, and each further circle takes an equal part. An empty query has the score 0 for all positions, so that it attends to all sixteen alike.",
    about:
      "No network runs here: the score is β for a position with the form of the query, and 0 for all others, as in the chapter’s example, where β is 3.",
    defaults: { signs: Array.from({ length: N }, (_, i) => Number(i === 0 || i === N - 1)), query: 0, beta: 3, tool: 3 },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", { class: "live-planes" });
      const where = (i) => "row " + (Math.floor(i / SIDE) + 1) + ", column " + ((i % SIDE) + 1);

      function press(r, c) {
        const at = r * SIDE + c;
        kept(state.tool === 3 ? { query: at } : { signs: state.signs.toSpliced(at, 1, state.tool) });
        show();
      }

      function show() {
        const weights = LIVE.mapWeights(state.signs, state.query, state.beta);
        const grid = (label, more) => LIVE.grid({ rows: PLACES, columns: PLACES, corner: "row", over: "column", label, ...more });
        const mark = (i) => (i === state.query ? "is-now" : "");
        const map = grid("The map", {
          pressed: press,
          cell: (r, c) => {
            const i = r * SIDE + c;
            return {
              weight: state.signs[i] ? 0.2 : 0,
              mark: mark(i),
              title: where(i) + ": " + NAMES[state.signs[i]] + (i === state.query ? ", the query" : ""),
            };
          },
        });
        map.querySelectorAll("button").forEach((button, i) => (button.textContent = SIGNS[state.signs[i]]));
        const given = grid("The weights of the query", {
          cell: (r, c) => ({ weight: weights[r * SIDE + c], mark: mark(r * SIDE + c), title: "" }),
        });
        given.querySelectorAll("td").forEach((td, i) => (td.textContent = weights[i].toFixed(DIGITS)));
        refill(
          board,
          make("div", {}, make("p", { class: "live-head" }, "The map: press a position"), map),
          make("div", {}, make("p", { class: "live-head" }, "Weights of the query"), given),
        );
        said.say(told(weights));
      }

      function told(weights) {
        const sign = state.signs[state.query],
          alike = state.signs.filter((one) => sign && one === sign).length,
          most = weights[state.query];
        const start = "The query is in " + where(state.query) + ". ";
        return !sign
          ? start + "It is empty, so all 16 positions have the weight " + most.toFixed(DIGITS) + "."
          : start +
              (alike > 1
                ? "It and " + (alike - 1) + " other" + (alike > 2 ? "s" : "") + " with its form have"
                : "It alone has its form, with") +
              " the weight " +
              most.toFixed(DIGITS) +
              (alike > 1 ? " each" : "") +
              (alike < N ? ", and each of the " + (N - alike) + " others has " + Math.min(...weights).toFixed(DIGITS) : "") +
              ". If the other circles are dark (−1) and the other squares light (1), the query gets the colour " +
              (Number(LIVE.mapColour(state.signs, state.query, weights).toFixed(DIGITS)) || 0).toFixed(DIGITS).replace("-", "−") +
              ".";
      }

      room.append(
        choice("Pressing a position will", TOOLS, state.tool, (tool) => kept({ tool })),
        slider("Sharpness β", { from: 0, to: 8, step: 0.5, value: state.beta }, (beta) => {
          kept({ beta });
          show();
        }),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
