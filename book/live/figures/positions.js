// Rotary positions as clocks: a query and a key are turned by their positions, and their score depends on the distance alone.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, signed } = LIVE;
  const PAIRS = 8,
    BASES = [
      [100, "100"],
      [10000, "10,000"],
      [500000, "500,000"],
    ],
    FAR = 256,
    WIDTH = 640,
    HEIGHT = 150;

  // Radians per position of each pair of features (Su et al. 2021, equation 15).
  LIVE.frequencies = (base, pairs = PAIRS) => Array.from({ length: pairs }, (_, i) => base ** (-i / pairs));
  // q · k of a query and a key that are (1, 0) in each pair before they are turned; divided by the number of pairs.
  const score = (distance, base) => LIVE.frequencies(base).reduce((sum, f) => sum + Math.cos(distance * f), 0) / PAIRS;

  function clock(turns, seen, i) {
    const hand = (angle, name) => make("line", { x1: 0, y1: 0, x2: 34 * Math.cos(angle), y2: -34 * Math.sin(angle), class: name });
    const words =
      "pair " +
      i +
      ": query at " +
      Math.round(((turns[0] * 180) / Math.PI) % 360) +
      "°, key at " +
      Math.round(((turns[1] * 180) / Math.PI) % 360) +
      "°";
    return make(
      "svg",
      { viewBox: "-42 -42 84 84", role: "img", "aria-label": words, class: seen ? "" : "is-unseen" },
      make("circle", { r: 38 }),
      hand(turns[1], "is-key"),
      hand(turns[0], "is-query"),
    );
  }

  function curve(state) {
    const x = (distance) => 20 + ((WIDTH - 40) * distance) / FAR,
      y = (value) => HEIGHT / 2 - value * (HEIGHT / 2 - 14),
      distance = Math.abs(state.query - state.key);
    const points = Array.from({ length: FAR + 1 }, (_, d) => x(d).toFixed(1) + "," + y(score(d, state.base)).toFixed(1)).join(" ");
    return make(
      "svg",
      { viewBox: [0, 0, WIDTH, HEIGHT + 18].join(" "), class: "live-curve", role: "img", "aria-label": "Score by distance" },
      make("rect", {
        x: x(Math.min(FAR, state.trained)),
        y: 0,
        width: Math.max(0, x(FAR) - x(Math.min(FAR, state.trained))),
        height: HEIGHT,
        class: "unseen",
      }),
      make("line", { x1: x(0), x2: x(FAR), y1: y(0), y2: y(0), class: "axis" }),
      make("polyline", { points }),
      make("circle", { cx: x(Math.min(FAR, distance)), cy: y(score(distance, state.base)), r: 7 }),
      [0, 64, 128, 192, 256].map((d) => make("text", { x: x(d), y: HEIGHT + 14, "text-anchor": "middle" }, String(d))),
    );
  }

  LIVE.figure("positions", {
    title: "Rotary positions as clocks",
    todo: "Move query and key together with “Both”: the hands turn, but which number stays? Then move the key far away from the query, farther than the trained length, and see which clocks show angles that training never showed.",
    learned:
      "Each pair of features is a clock; the first turns fast, the last hardly at all. Turning query and key together leaves the angle between the hands alone, and with it the score: only the distance matters. The fast clocks have shown every angle many times within the trained length; the slow ones have shown only a part of a turn, so that a longer text brings angles that the model has never met. A larger base makes all clocks slower.",
    about:
      "Eight pairs with the frequencies of rotary positions; the curve is the score of a query and a key that are equal before they are turned.",
    defaults: { query: 40, key: 28, base: 10000, trained: 128 },
    draw(room, state, kept) {
      const said = words(),
        clocks = make("div", { class: "live-clocks" }),
        below = make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "Score by distance" }),
        sliders = {};
      function show() {
        const frequencies = LIVE.frequencies(state.base),
          distance = state.query - state.key,
          farthest = Math.abs(distance);
        const seen = frequencies.map((f) => f * state.trained >= 2 * Math.PI || farthest < state.trained);
        clocks.replaceChildren(
          ...frequencies.map((f, i) =>
            make(
              "div",
              {},
              clock([state.query * f, state.key * f], seen[i], i),
              make("small", {}, "turns in " + Math.round((2 * Math.PI) / f).toLocaleString("en")),
            ),
          ),
        );
        below.replaceChildren(curve(state));
        const unseen = seen.filter((is) => !is).length;
        said.say(
          "Distance " +
            String(distance).replace("-", "−") +
            ": score " +
            signed(score(distance, state.base)) +
            " per pair. " +
            (unseen
              ? unseen + " of " + PAIRS + " clocks show an angle between the hands that no text of " + state.trained + " words shows."
              : "Each clock shows an angle between its hands that training showed as well."),
        );
      }
      const set = (changes) => {
        kept(changes);
        Object.entries(changes).forEach(([key, value]) => sliders[key] && sliders[key].set(value));
        show();
      };
      const position = (key, name) =>
        (sliders[key] = slider(name, { from: 0, to: FAR, step: 1, value: state[key] }, (value) => set({ [key]: value })));
      room.append(
        position("query", "Position of the query (blue hand)"),
        position("key", "Position of the key (orange hand)"),
        slider(
          "Both",
          {
            from: 0,
            to: FAR - Math.abs(state.query - state.key),
            step: 1,
            value: Math.min(state.query, state.key),
            shown: (n) => "from " + n,
          },
          (start) => {
            const low = Math.min(state.query, state.key);
            set({ query: Math.min(FAR, state.query - low + start), key: Math.min(FAR, state.key - low + start) });
          },
        ),
        slider("Trained length", { from: 16, to: 256, step: 16, value: state.trained }, (trained) => set({ trained })),
        choice("Base", BASES, state.base, (base) => set({ base })),
        clocks,
        make("p", { class: "live-head" }, "Score by distance; the shaded part is longer than training"),
        below,
        said.element,
      );
      show();
    },
  });
})(globalThis);
