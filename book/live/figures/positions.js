// Rotary positions as clock hands: the angle at which a key starts chooses the distance at which its score is highest.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, signed } = LIVE;
  const STEPS = [30, 10, 3, 90], // degrees per position of each hand
    LENGTH = 6, // |q| |k| of each hand, as in the chapter
    FAR = 40,
    WIDTH = 640,
    HEIGHT = 170,
    LEFT = 56; // beside it the scale of the score
  const COUNTS = [
    [1, "one: 30°"],
    [2, "two: 30°, 10°"],
    [3, "three: 30°, 10°, 3°"],
    [4, "four: with 90°"],
  ];

  const cosine = (degrees) => Math.cos((degrees * Math.PI) / 180);
  // A hand of another speed that is to find the same distance starts ahead in the ratio of the speeds.
  const startOf = (step, start) => (start * step) / STEPS[0];
  const angleAt = (step, start, distance) => startOf(step, start) + step * distance;
  // The score of a key at a distance from the query; its fastest hand starts `start` degrees ahead of the query's.
  LIVE.scoreOfHands = (distance, start, hands) =>
    STEPS.slice(0, hands).reduce((sum, step) => sum + LENGTH * cosine(angleAt(step, start, distance)), 0);

  const DISTANCES = Array.from({ length: 2 * FAR + 1 }, (_, n) => n - FAR);
  // Where the score is highest, of all that are drawn.
  LIVE.bestDistances = function (start, hands) {
    const scores = DISTANCES.map((distance) => LIVE.scoreOfHands(distance, start, hands)),
      most = Math.max(...scores);
    return DISTANCES.filter((_, n) => scores[n] > most - 1e-6);
  };

  const degrees = (angle) => signed(Number(angle.toFixed(1)), angle % 1 ? 1 : 0) + "°";
  const within = (angle) => ((((angle + 180) % 360) + 360) % 360) - 180; // from −180° on, below 180°

  function clock(step, { start, distance }) {
    const begins = startOf(step, start),
      angle = within(angleAt(step, start, distance)),
      tip = (of, radius) => [radius * Math.sin((of * Math.PI) / 180), -radius * cosine(of)].map((v) => v.toFixed(2));
    const hand = (of, length, width, name) => {
      const [x2, y2] = tip(of, length);
      return make("line", { x1: 0, y1: 0, x2, y2, class: name, style: "stroke-width: " + width });
    };
    const drawing = make(
      "svg",
      { viewBox: "-38 -38 76 76", role: "img", "aria-label": step + "° per position: the key is at " + degrees(angle) + " from the query" },
      make("circle", { r: 34 }),
      hand(angle, 20, 10, "is-key"),
      hand(0, 30, 4, "is-query"),
    );
    const line = (...texts) => make("small", { style: "display: block" }, ...texts);
    return make(
      "div",
      {},
      drawing,
      line(step + "° per position"),
      line("starts at " + degrees(Math.abs(begins) > 180 ? within(begins) : begins)),
      line("now ", make("strong", {}, degrees(angle))),
      line("adds " + signed(LENGTH * cosine(angle))),
    );
  }

  function curve({ start, hands, distance }) {
    const most = LENGTH * hands,
      x = (at) => LEFT + ((WIDTH - 20 - LEFT) * (at + FAR)) / (2 * FAR),
      y = (value) => 8 + ((HEIGHT - 16) * (most - value)) / (2 * most),
      score = (at) => LIVE.scoreOfHands(at, start, hands);
    const number = (value) => [
      make("line", { x1: x(-FAR), x2: x(FAR), y1: y(value), y2: y(value), class: "axis" }),
      make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, signed(value, 0)),
    ];
    return make(
      "svg",
      { viewBox: [0, 0, WIDTH, HEIGHT + 28].join(" "), class: "live-curve", role: "img", "aria-label": "Score by distance" },
      [most, 0, -most].flatMap(number),
      make("polyline", { points: DISTANCES.map((at) => x(at).toFixed(1) + "," + y(score(at)).toFixed(1)).join(" ") }),
      make("circle", { cx: x(distance), cy: y(score(distance)), r: 7 }),
      [-36, -24, -12, 0, 12, 24, 36].map((at) => make("text", { x: x(at), y: HEIGHT + 24, "text-anchor": "middle" }, signed(at, 0))),
    );
  }

  const listed = (distances) => {
    const all = distances.map((distance) => signed(distance, 0));
    return all.length > 1 ? all.slice(0, -1).join(", ") + " and " + all.at(-1) : all[0];
  };

  LIVE.figure("positions", {
    title: "The start of a key chooses a distance",
    todo: "The key starts 30° ahead, as in head 0. Where must it start so that the score is highest at the distance 2, as head 1 needs? Set it; then add a second, a third and a fourth hand, and look at the other peaks and at the neighbour, 3.",
    learned:
      "From 0 to the distance 2 the fast hand turns by 60°, so the key must start at −60°. One hand gives the same score, 6, every twelve positions: at −10 and 14 as well. The second hand starts at −20° and points 120° away at the distance 14: it adds −3, and the sum there is 3 instead of 12. At 38 both have come round, and only the third hand tells the distances apart: 10.15 against 18. But at the neighbour 3 the three slow hands add 17.10, nearly as much as at 2. A fast hand of 90° adds 6 at 2 and 0 at 3.",
    about:
      "Query and key of each hand have the lengths 6 and 1, as in the chapter, and each clock is turned so that the query points up. The other hands always start so that they find the same distance as the first one. Nothing is trained here.",
    defaults: { start: 30, hands: 1, distance: -1 },
    draw(room, state, kept) {
      const said = words(),
        clocks = make("div", { class: "live-clocks" }),
        below = make("div", {});
      function show() {
        const { start, hands, distance } = state,
          best = LIVE.bestDistances(start, hands);
        clocks.replaceChildren(...STEPS.slice(0, hands).map((step) => clock(step, state)));
        below.replaceChildren(curve(state));
        said.say(
          "At the distance " +
            signed(distance, 0) +
            " the score is " +
            signed(LIVE.scoreOfHands(distance, start, hands)) +
            ". Of all distances drawn it is highest, " +
            signed(LIVE.scoreOfHands(best[0], start, hands)) +
            ", at " +
            listed(best) +
            ".",
        );
      }
      const set = (changes) => {
        kept(changes);
        show();
      };
      room.append(
        slider("Start of the key, ahead of the query", { from: -180, to: 180, step: 10, value: state.start, shown: degrees }, (start) =>
          set({ start }),
        ),
        slider("Distance (key − query)", { from: -FAR, to: FAR, step: 1, value: state.distance, shown: (n) => signed(n, 0) }, (distance) =>
          set({ distance }),
        ),
        choice("Hands", COUNTS, state.hands, (hands) => set({ hands })),
        make("p", { class: "live-head" }, "Query (blue, long) and key (orange, short) at this distance"),
        clocks,
        make("p", { class: "live-head" }, "Score by distance: the sum of the hands"),
        below,
        said.element,
      );
      show();
    },
  });
})(globalThis);
