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
    LATER = [
      [0, "as in training"],
      [500000, "raised to 500,000"],
    ],
    FAR = 256,
    WIDTH = 640,
    HEIGHT = 150,
    RIM = 38; // radius of a clock

  // Radians per position of each pair of features (Su et al. 2021, equation 15).
  LIVE.frequencies = (base, pairs = PAIRS) => Array.from({ length: pairs }, (_, i) => base ** (-i / pairs));
  // q · k of a query and a key that are (1, 0) in each pair before they are turned; divided by the number of pairs.
  const score = (distance, base) => LIVE.frequencies(base).reduce((sum, f) => sum + Math.cos(distance * f), 0) / PAIRS;

  // How far the key's hand gets from the query's, to either side, in texts of `trained` positions: π if everywhere.
  LIVE.reachOfAngles = (frequency, trained) => Math.min(Math.PI, frequency * (trained - 1));
  // Whether some two positions of such a text have the angle between their hands that this distance has. `before` is the
  // frequency in training, where it was another one.
  LIVE.angleSeen = function (frequency, distance, trained, before = frequency) {
    const angle = Math.abs(frequency * distance) % (2 * Math.PI);
    return Math.min(angle, 2 * Math.PI - angle) <= LIVE.reachOfAngles(before, trained) + 1e-9;
  };

  // As on a clock: from the top, clockwise.
  const tip = (angle, radius) => [radius * Math.sin(angle), -radius * Math.cos(angle)].map((v) => v.toFixed(2));
  const degrees = (angle) => Math.round(((angle * 180) / Math.PI) % 360) + "°";

  function clock({ frequency, before, query, key, trained, i }) {
    const turns = [query * frequency, key * frequency],
      reach = LIVE.reachOfAngles(before, trained),
      seen = LIVE.angleSeen(frequency, key - query, trained, before);
    const hand = (angle, name) => {
      const [x2, y2] = tip(angle, 32);
      return make("line", { x1: 0, y1: 0, x2, y2, class: name });
    };
    const arc = ["M", ...tip(turns[0] - reach, RIM), "A", RIM, RIM, 0, reach > Math.PI / 2 ? 1 : 0, 1, ...tip(turns[0] + reach, RIM)];
    return make(
      "svg",
      {
        viewBox: "-44 -44 88 88",
        role: "img",
        "aria-label":
          "pair " + i + ": query at " + degrees(turns[0]) + ", key at " + degrees(turns[1]) + (seen ? "" : ", not seen in training"),
        class: seen ? "" : "is-unseen",
      },
      make("circle", { r: RIM }),
      reach < Math.PI ? make("path", { d: arc.join(" "), class: "arc" }) : make("circle", { r: RIM, class: "arc" }),
      hand(turns[1], "is-key"),
      hand(turns[0], "is-query"),
    );
  }

  function curve({ query, key, base, trained }) {
    const x = (distance) => WIDTH / 2 + ((WIDTH / 2 - 20) * distance) / FAR,
      y = (value) => HEIGHT / 2 - value * (HEIGHT / 2 - 14),
      distance = key - query;
    const points = Array.from({ length: 2 * FAR + 1 }, (_, n) => x(n - FAR).toFixed(1) + "," + y(score(n - FAR, base)).toFixed(1)).join(
      " ",
    );
    const beyond = (from) => make("rect", { x: from, y: 0, width: x(FAR) - x(trained), height: HEIGHT, class: "unseen" });
    return make(
      "svg",
      { viewBox: [0, 0, WIDTH, HEIGHT + 28].join(" "), class: "live-curve", role: "img", "aria-label": "Score by distance" },
      beyond(x(-FAR)),
      beyond(x(trained)),
      make("line", { x1: x(-FAR), x2: x(FAR), y1: y(0), y2: y(0), class: "axis" }),
      make("polyline", { points }),
      make("circle", { cx: x(distance), cy: y(score(distance, base)), r: 7 }),
      [-256, -128, 0, 128, 256].map((d) =>
        make("text", { x: x(d), y: HEIGHT + 22, "text-anchor": { [-FAR]: "start", [FAR]: "end" }[d] || "middle" }, signed(d, 0)),
      ),
    );
  }

  const distanceInWords = (distance) =>
    distance === 0
      ? "Query and key are at the same position"
      : "The key is " +
        Math.abs(distance) +
        (Math.abs(distance) === 1 ? " position " : " positions ") +
        (distance > 0 ? "after" : "before") +
        " the query (distance " +
        signed(distance, 0) +
        ")";

  LIVE.figure("positions", {
    title: "Rotary positions as clocks",
    todo: "Move query and key together with “Both later by”: the hands turn, but which number stays? Then move the key away from the query, farther than the trained length: on which clocks does the orange hand leave the thick arc, which holds all angles to the blue hand that training showed? Leave the key there and choose the base 500,000, as if the model were trained with it: on how many clocks does it leave the arc now? Then go back to 10,000, and raise the base after training instead.",
    learned:
      "Each pair of features is a clock; the first turns fast, the last hardly at all. If query and key move together, the angle between the hands stays, and so does the score: only the distance counts. Within the trained length the fast clocks have shown all angles, the slow ones only an arc, and a greater distance brings their hands outside it. If a model is trained with a larger base, the clocks are slower, so that more of them have shown only an arc: at the distance 192, 4 of the 8 clocks show an unseen angle with the base 10,000, and 5 with the base 500,000. If the base is raised after training, the arcs stay and the hands become slower, so that at this distance all are within them. But then each distance has other angles than in training, so models are usually trained further.",
    about:
      "Eight pairs of features, drawn like the clocks of the chapter, from the top and clockwise. Query and key are equal before they are turned; the score is divided by the number of pairs, so that 1 is the largest. Nothing is trained here: the trained length only says which distances training would show.",
    defaults: { query: 3, key: 5, by: 0, base: 10000, later: 0, trained: 128 },
    draw(room, state, kept) {
      const said = words(),
        clocks = make("div", { class: "live-clocks" }),
        below = make("div", {});
      function show() {
        const base = state.later || state.base,
          frequencies = LIVE.frequencies(base),
          before = LIVE.frequencies(state.base),
          distance = state.key - state.query;
        clocks.replaceChildren(
          ...frequencies.map((frequency, i) =>
            make(
              "div",
              {},
              clock({ query: state.query + state.by, key: state.key + state.by, trained: state.trained, before: before[i], frequency, i }),
              make("small", {}, "a turn in " + Math.round((2 * Math.PI) / frequency).toLocaleString("en") + " positions"),
            ),
          ),
        );
        below.replaceChildren(curve({ ...state, base }));
        const unseen = frequencies.filter((frequency, i) => !LIVE.angleSeen(frequency, distance, state.trained, before[i])).length;
        said.say(
          distanceInWords(distance) +
            ": score " +
            signed(score(distance, base)) +
            ". " +
            (unseen
              ? unseen +
                " of " +
                PAIRS +
                (unseen === 1 ? " clocks shows" : " clocks show") +
                " an angle that no two positions of a text of " +
                state.trained +
                " positions show."
              : "Each clock shows an angle that two positions of a text of " + state.trained + " positions show, too."),
        );
      }
      const set = (changes) => {
        kept(changes);
        sliders.query.set(state.query);
        sliders.key.set(state.key);
        show();
      };
      // A position is where its own slider stands, and as many later as both are moved.
      const position = (key, name) =>
        slider(name, { from: 0, to: FAR, step: 1, value: state[key], shown: (n) => String(n + state.by) }, (value) =>
          set({ [key]: value }),
        );
      const sliders = {
        query: position("query", "Position of the query (blue hand)"),
        key: position("key", "Position of the key (orange hand)"),
        both: slider("Both later by", { from: 0, to: FAR, step: 1, value: state.by }, (by) => set({ by })),
        trained: slider("Trained length", { from: 16, to: 256, step: 16, value: state.trained }, (trained) => set({ trained })),
      };
      room.append(
        ...Object.values(sliders),
        choice("Base in training", BASES, state.base, (base) => set({ base })),
        choice("Base afterwards", LATER, state.later, (later) => set({ later })),
        clocks,
        make("p", { class: "live-head" }, "Score by distance (key − query); shaded: distances that training doesn't show"),
        below,
        said.element,
      );
      show();
    },
  });
})(globalThis);
