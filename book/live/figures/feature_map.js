// Attention over a small map: the reader paints positions, chooses the one that attends, and sharpens its scores (chapter 16).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, words, softmax } = LIVE;
  const SIDE = 4,
    N = SIDE * SIDE,
    DIGITS = 3, // of each weight
    SIGNS = ["an empty position", "a circle", "a square"],
    COLOURS = [0, -1, 1], // of nothing, of circles (dark) and of squares (light)
    COLOUR_DIGITS = 2, // as in the chapter
    PLACES = Array.from({ length: SIDE }, (_, i) => String(i + 1));
  const TOOLS = [
    [3, "query"],
    [1, "dark circle"],
    [2, "light square"],
    [0, "empty"],
  ];

  // A circle or square, or an empty position with a dashed edge, in a grey between dark (−1) and light (1); 0 is in the middle.
  function glyph(sign, colour) {
    const grey = Math.round(140 + 110 * colour);
    const form = sign === 1 ? "50%" : "2px";
    return make("span", {
      "aria-hidden": "true",
      style:
        "display:inline-block;width:1.05rem;height:1.05rem;vertical-align:-0.2rem;border:2px " +
        (sign ? "solid" : "dashed") +
        " var(--pst-color-text-muted);" +
        "border-radius:" +
        form +
        ";background:rgb(" +
        [grey, grey, grey].join() +
        ")",
    });
  }

  // The weights of position `query`: β times the dot product of its feature and theirs, 1 for the same form, else 0.
  LIVE.mapWeights = (signs, query, beta) =>
    Array.from(softmax(Float64Array.from(signs, (sign) => (sign && sign === signs[query] ? beta : 0))));

  // The weighted sum of the colours: −1 for a circle, 1 for a square, and 0 for an empty position and the query itself.
  LIVE.mapColour = (signs, query, weights) => signs.reduce((sum, sign, i) => sum + (i === query ? 0 : weights[i] * COLOURS[sign]), 0);

  LIVE.figure("feature_map", {
    title: "Attention over a map of 4 × 4 positions",
    todo: "The framed circle is the query and has no colour yet. Give the dark circle another position: choose “empty” and press its corner, then choose “dark circle” and press any other one. Does its weight change? Then find the first step of β with which that circle receives more than 0.45.",
    learned:
      "With β = 3 each corner has the weight 0.371, however far apart the two are: wherever the second circle lies, its weight is the same. Each has more than 0.45 where β is larger than ln 63 = 4.14, so that 4.5 is the first step of the slider with which it does. The query takes as much as its partner, because both have the same form. With a further circle all take an equal part. An empty query has the score 0 for all positions, so that it attends to all sixteen alike.",
    about:
      "No network runs here: the score is β for a position with the form of the query, and 0 for all others, as in the chapter’s example, where β is 3. Whatever is chosen as the query has no colour at first (0, grey); other circles are dark (−1), other squares light (1).",
    defaults: { signs: Array.from({ length: N }, (_, i) => Number(i === 0 || i === N - 1)), query: 0, beta: 3, tool: 3 },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", { class: "live-planes" }),
        painted = make("p", { class: "live-buttons" });
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
              weight: state.signs[i] ? 0.1 : 0,
              mark: mark(i),
              title: where(i) + ": " + SIGNS[state.signs[i]] + (i === state.query ? ", the query" : ""),
            };
          },
        });
        const sign = state.signs[state.query],
          colour = LIVE.mapColour(state.signs, state.query, weights);
        map
          .querySelectorAll("button")
          .forEach((button, i) => state.signs[i] && button.append(glyph(state.signs[i], i === state.query ? 0 : COLOURS[state.signs[i]])));
        const given = grid("The weights of the query", {
          cell: (r, c) => ({ weight: weights[r * SIDE + c], mark: mark(r * SIDE + c), title: "" }),
        });
        given.querySelectorAll("td").forEach((td, i) => (td.textContent = weights[i].toFixed(DIGITS)));
        refill(
          board,
          make("div", {}, make("p", { class: "live-head" }, "The map: press a position"), map),
          make("div", {}, make("p", { class: "live-head" }, "Weights of the query"), given),
        );
        refill(
          painted,
          "The query’s colour: ",
          glyph(sign, 0),
          " 0 → ",
          glyph(sign, colour),
          " ",
          make("strong", {}, LIVE.signed(colour, COLOUR_DIGITS)),
          " (−1: dark, 1: light)",
        );
        said.say(told(weights, colour));
      }

      function told(weights, colour) {
        const sign = state.signs[state.query],
          others = state.signs.filter((one) => sign && one === sign).length - 1,
          form = sign === 1 ? "circle" : "square",
          most = weights[state.query].toFixed(DIGITS),
          rest = N - 1 - others;
        const alike = !sign
          ? "is empty, so all 16 positions have the weight " + most
          : others < 1
            ? "is the only " + form + " and has the weight " + most
            : "and the " + (others > 1 ? others + " other " + form + "s" : "other " + form) + " have the weight " + most + " each";
        return (
          "The query (" +
          where(state.query) +
          ") " +
          alike +
          (sign && rest ? "; each of the " + rest + " other positions has " + Math.min(...weights).toFixed(DIGITS) : "") +
          ". So the query’s colour becomes " +
          LIVE.signed(colour, COLOUR_DIGITS) +
          "."
        );
      }

      room.append(
        choice("A press means", TOOLS, state.tool, (tool) => kept({ tool })),
        slider("Sharpness β (0, 0.5, … 8)", { from: 0, to: 8, step: 0.5, value: state.beta }, (beta) => {
          kept({ beta });
          show();
        }),
        board,
        painted,
        said.element,
      );
      show();
    },
  });
})(globalThis);
