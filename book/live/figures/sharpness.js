// How sharp a softmax stays: one position with a higher score among n, with and without a factor that grows with ln n.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent } = LIVE;
  const ALONE = 24, // positions at which the factor is 1: those of a string of twelve letters and its copy
    MOST = 20, // steps of the slider, each twice as many positions as the one before, up to 800,000
    WIDTH = 640,
    HEIGHT = 170,
    SIDE = 72; // for the name of the middle line, to the right of the curve

  // The weight of a position whose score is higher than n − 1 equal ones by `lead`, after a factor on all scores.
  LIVE.weightOfLeader = (lead, n, factor = 1) => 1 / (1 + (n - 1) * Math.exp(-factor * lead));
  // The factor that grows with the length, 1 at ALONE positions.
  LIVE.lengthFactor = (n) => Math.log(n) / Math.log(ALONE);

  const count = (n) => n.toLocaleString("en"),
    sizeAt = (step) => Math.round(ALONE * 2 ** (step - 5));

  function curve({ lead, size, scaled }) {
    const x = (step) => 20 + ((WIDTH - 20 - SIDE) * (step - 1)) / (MOST - 1),
      y = (share) => HEIGHT - share * (HEIGHT - 16);
    const line = (grows) =>
      Array.from({ length: 4 * (MOST - 1) + 1 }, (_, i) => {
        const step = 1 + i / 4,
          n = ALONE * 2 ** (step - 5);
        return x(step).toFixed(1) + "," + y(LIVE.weightOfLeader(lead, n, grows ? LIVE.lengthFactor(n) : 1)).toFixed(1);
      }).join(" ");
    const n = sizeAt(size),
      share = LIVE.weightOfLeader(lead, n, scaled === "yes" ? LIVE.lengthFactor(n) : 1);
    return make(
      "svg",
      {
        viewBox: [0, 0, WIDTH, HEIGHT + 28].join(" "),
        class: "live-curve",
        role: "img",
        "aria-label": "Weight of the leader by number of positions, with a line at 50 %",
      },
      make("line", { x1: x(1), x2: x(MOST), y1: y(0), y2: y(0), class: "axis" }),
      make("line", { x1: x(1), x2: x(MOST), y1: y(0.5), y2: y(0.5), class: "half" }),
      make("text", { x: x(MOST) + 8, y: y(0.5), "dominant-baseline": "central" }, "50 %"),
      make("polyline", { points: line(scaled === "yes") }),
      make("circle", { cx: x(size), cy: y(share), r: 7 }),
      [1, 5, 10, MOST].map((step) =>
        make("text", { x: x(step), y: HEIGHT + 22, "text-anchor": { 1: "start", [MOST]: "end" }[step] || "middle" }, count(sizeAt(step))),
      ),
    );
  }

  LIVE.figure("sharpness", {
    title: "A leader among many",
    todo: "Move “Positions” to the right without touching the lead: when does the leader fall under one half (the dashed line), although its score is still higher by the same lead? Then switch the factor on: what happens to the curve?",
    learned:
      "The other positions enter the sum one by one, so each doubling of their number costs the leader as much as a lead smaller by ln 2 = 0.69. A fixed lead therefore loses against enough positions. A factor that grows like ln n gives back what the length takes, if the lead was large enough at the trained length: then the weight even rises. A lead under about ln 24 = 3.2 was too small already, and still falls.",
    about:
      "Nothing is trained here. One position has a score that is higher than all others by the lead, and all others have equal scores. At the start the lead is 4, as on this page. The factor is ln n / ln 24: it is 1 at 24 positions, those of a string of twelve letters and its copy.",
    defaults: { lead: 4, size: 5, scaled: "no" },
    draw(room, state, kept) {
      const said = words(),
        picture = make("div", {}),
        rows = make("div", {});

      function show() {
        const n = sizeAt(state.size),
          factor = state.scaled === "yes" ? LIVE.lengthFactor(n) : 1,
          share = LIVE.weightOfLeader(state.lead, n, factor),
          before = LIVE.weightOfLeader(state.lead, ALONE);
        picture.replaceChildren(curve(state));
        rows.replaceChildren(
          LIVE.bars("Weights", [
            ["the leader", share, percent(share)],
            ["all others together", 1 - share, percent(1 - share)],
          ]),
        );
        said.say(
          "Among " +
            count(n) +
            " positions a lead of " +
            state.lead.toFixed(1) +
            (state.scaled === "yes" ? ", multiplied by " + factor.toFixed(2) + ", gives the leader " : " gives the leader ") +
            percent(share) +
            " of the weight." +
            (n === ALONE ? "" : " Among " + ALONE + " positions it has " + percent(before) + "."),
        );
      }
      const change = (key) => (value) => {
        kept({ [key]: value });
        show();
      };
      room.append(
        slider("Positions", { from: 1, to: MOST, step: 1, value: state.size, shown: (step) => count(sizeAt(step)) }, change("size")),
        slider(
          "Lead of the right position",
          { from: 0, to: 12, step: 0.5, value: state.lead, shown: (lead) => lead.toFixed(1) },
          change("lead"),
        ),
        choice(
          "Factor ln n / ln 24 on all scores",
          [
            ["no", "no"],
            ["yes", "yes"],
          ],
          state.scaled,
          change("scaled"),
        ),
        picture,
        rows,
        said.element,
      );
      show();
    },
  });
})(globalThis);
