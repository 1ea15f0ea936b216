// Rotary positions as clocks: a query and a key are turned by their positions, and their score depends on the distance alone.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, buttons, words, signed } = LIVE;
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
    LEFT = 56, // beside it the scale of the score
    LOWEST = -0.55,
    RIM = 34, // radius of a clock
    ARC = 40; // around it, where no hand covers it

  // Each begins with a setting of its own, says what to do there, and leaves the answer to the figure.
  const NEAR = { query: 3, key: 5, by: 0, base: 10000, later: 0, trained: 128 },
    AWAY = { ...NEAR, key: 195 };
  const TASKS = [
    ["1. Move both", NEAR, "Move “Both later by”. All hands turn. Do the bold angles under the clocks change, and does the score?"],
    [
      "2. Move the key",
      NEAR,
      "Move the key farther and farther from the query. At which distance does an orange hand first leave its thick arc, and on which clocks?",
    ],
    [
      "3. A larger base",
      AWAY,
      "You begin at the distance 192. Guess first: if the model had been trained with the base 500,000, would more hands be outside their arcs, or fewer? Then choose it under “Base in training”.",
    ],
    [
      "4. Raise the base later",
      AWAY,
      "You begin at the distance 192, after a training with the base 10,000. Choose “raised to 500,000” under “Base afterwards”. What do the orange hands do, and what do the arcs?",
    ],
  ];

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
  const inDegrees = (angle) => (angle * 180) / Math.PI;
  const degrees = (angle) => Math.round(inDegrees(angle) % 360) + "°";
  const exact = (angle) => Number(inDegrees(angle).toFixed(inDegrees(angle) < 0.95 ? 2 : inDegrees(angle) < 9.95 ? 1 : 0)) + "°";

  function clock({ frequency, before, query, key, trained, i }) {
    const turns = [query * frequency, key * frequency],
      reach = LIVE.reachOfAngles(before, trained),
      between = Math.abs(turns[1] - turns[0]) % (2 * Math.PI),
      seen = LIVE.angleSeen(frequency, key - query, trained, before);
    const hand = (angle, length, width, name) => {
      const [x2, y2] = tip(angle, length);
      return make("line", { x1: 0, y1: 0, x2, y2, class: name, style: "stroke-width: " + width });
    };
    const arc = ["M", ...tip(turns[0] - reach, ARC), "A", ARC, ARC, 0, reach > Math.PI / 2 ? 1 : 0, 1, ...tip(turns[0] + reach, ARC)];
    const drawing = make(
      "svg",
      {
        viewBox: "-44 -44 88 88",
        role: "img",
        "aria-label":
          "pair " + i + ": query at " + degrees(turns[0]) + ", key at " + degrees(turns[1]) + (seen ? "" : ", not seen in training"),
        class: seen ? "" : "is-unseen",
      },
      make("circle", { r: RIM }),
      reach < Math.PI ? make("path", { d: arc.join(" "), class: "arc" }) : make("circle", { r: ARC, class: "arc" }),
      hand(turns[1], 20, 10, "is-key"),
      hand(turns[0], 30, 4, "is-query"),
    );
    const line = (...texts) => make("small", { style: "display: block" }, ...texts);
    return make(
      "div",
      {},
      drawing,
      line("a turn in " + Math.round((2 * Math.PI) / frequency).toLocaleString("en") + " positions"),
      line(make("strong", {}, exact(Math.min(between, 2 * Math.PI - between)))),
      line("seen " + (reach < Math.PI ? "to " + exact(reach) : "all")),
    );
  }

  function curve({ query, key, base, trained }) {
    const x = (distance) => LEFT + ((WIDTH - 20 - LEFT) * (distance + FAR)) / (2 * FAR),
      y = (value) => 14 + ((HEIGHT - 14) * (1 - value)) / (1 - LOWEST),
      distance = key - query;
    const points = Array.from({ length: 2 * FAR + 1 }, (_, n) => x(n - FAR).toFixed(1) + "," + y(score(n - FAR, base)).toFixed(1)).join(
      " ",
    );
    const seen = Math.min(FAR, trained - 1);
    const number = (value) => [
      make("line", { x1: x(-FAR), x2: x(FAR), y1: y(value), y2: y(value), class: "axis" }),
      make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, signed(value, value % 1 ? 1 : 0)),
    ];
    return make(
      "svg",
      { viewBox: [0, 0, WIDTH, HEIGHT + 28].join(" "), class: "live-curve", role: "img", "aria-label": "Score by distance" },
      make("rect", { x: x(-seen), y: 0, width: x(seen) - x(-seen), height: HEIGHT, class: "rewarded" }),
      [1, 0.5, 0].flatMap(number),
      make("polyline", { points }),
      make("circle", { cx: x(distance), cy: y(score(distance, base)), r: 7 }),
      [-256, -128, 0, 128, 256].map((d) =>
        make("text", { x: x(d), y: HEIGHT + 24, "text-anchor": d === FAR ? "end" : "middle" }, signed(d, 0)),
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
    todo: "There are four small tasks. Begin with the first, and press the next one when you know the answer.",
    learned:
      "Each pair of features is a clock; the first turns fast, the last hardly at all. If query and key move together, the angle between the hands stays, and so does the score: only the distance counts. Within the trained length the fast clocks have shown all angles, the slow ones only an arc, and a greater distance brings their hands outside it: with the base 10,000 all four slow clocks from the distance 128 on. If a model is trained with a larger base, the clocks are slower, so that more of them have shown only an arc: at the distance 192, 4 of the 8 clocks show an unseen angle with the base 10,000, and 5 with the base 500,000. If the base is raised after training, the arcs stay and the hands become slower, so that at this distance, one and a half times the trained length, all are within them. Much farther away, some leave them again. But then each distance has other angles than in training, so models are usually trained further.",
    about:
      "Eight pairs of features, drawn like the clocks of the chapter, from the top and clockwise. Query and key are equal before they are turned; the score is divided by the number of pairs, so that 1 is the largest. Nothing is trained here: the trained length only says which distances training would show.",
    defaults: { ...NEAR, task: 1 },
    draw(room, state, kept) {
      const said = words(),
        tasks = make("div", {}),
        controls = make("div", {}),
        clocks = make("div", { class: "live-clocks" }),
        below = make("div", {});
      let sliders = {};
      function show() {
        const base = state.later || state.base,
          frequencies = LIVE.frequencies(base),
          before = LIVE.frequencies(state.base),
          distance = state.key - state.query;
        clocks.replaceChildren(
          ...frequencies.map((frequency, i) =>
            clock({ query: state.query + state.by, key: state.key + state.by, trained: state.trained, before: before[i], frequency, i }),
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
        slider(
          name,
          { from: 0, to: FAR, step: 1, value: state[key], shown: (n) => (state.by ? n + " + " + state.by + " = " : "") + (n + state.by) },
          (value) => set({ [key]: value }),
        );
      function begin() {
        const press = (number) => {
          kept({ ...TASKS[number - 1][1], task: number });
          begin();
        };
        refill(
          tasks,
          buttons(...TASKS.map(([name], i) => [name, () => press(i + 1), state.task === i + 1])),
          make("p", { style: "margin: 0.5rem 0 0" }, TASKS[state.task - 1][2]),
        );
        sliders = {
          query: position("query", "Position of the query (blue hand)"),
          key: position("key", "Position of the key (orange hand)"),
          both: slider("Both later by", { from: 0, to: FAR, step: 1, value: state.by }, (by) => set({ by })),
          trained: slider("Trained length", { from: 16, to: 256, step: 16, value: state.trained }, (trained) => set({ trained })),
        };
        refill(
          controls,
          ...Object.values(sliders),
          choice("Base in training", BASES, state.base, (base) => set({ base })),
          choice("Base afterwards", LATER, state.later, (later) => set({ later })),
        );
        show();
      }
      room.append(
        tasks,
        controls,
        make(
          "p",
          { class: "live-head" },
          "The hands of query (blue, long) and key (orange, short), with the angle between them. Thick arc: all angles that training shows",
        ),
        clocks,
        make("p", { class: "live-head" }, "Score by distance (key − query); shaded: distances that training shows"),
        below,
        said.element,
      );
      begin();
    },
  });
})(globalThis);
