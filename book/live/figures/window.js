// A window over six words: where its centre stands, its softmax, its Gaussian, and the product of the two.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, words, softmax } = LIVE;
  const WORDS = ["six", ",", "forty", "two", ",", "seven"],
    SCORES = [1, 1, 2, 6, 1, 8].map(Math.log); // those of Chapter 4's example
  const WIDTH = 640,
    BELL = 84, // height of the Gaussian's top above its foot
    FOOT = 100;

  // Luong's equation 10. Nothing lies outside the sentence, so a window is never empty.
  LIVE.localWindow = function (scores, { centre, half, sigma }) {
    const inside = scores.map((_, j) => Math.abs(j - centre) <= half),
      attended = scores.map((_, j) => j).filter((j) => inside[j]);
    const shares = softmax(attended.map((j) => scores[j])),
      inWindow = scores.map((_, j) => (inside[j] ? shares[attended.indexOf(j)] : 0));
    const gaussian = scores.map((_, j) => Math.exp(-((j - centre) ** 2) / (2 * sigma ** 2)));
    const weights = inWindow.map((share, j) => share * gaussian[j]);
    return { inside, inWindow, gaussian, weights, total: weights.reduce((sum, weight) => sum + weight, 0) };
  };

  // The words on a line: the window is shaded, a dashed line stands at the centre, and the Gaussian is drawn above.
  function ruler({ centre, half, sigma }) {
    const x = (position) => (WIDTH * (position + 0.5)) / WORDS.length,
      within = (position) => Math.max(0, Math.min(WIDTH, x(position)));
    const bell = Array.from({ length: 10 * WORDS.length + 1 }, (_, i) => i / 10 - 0.5).map(
      (j) => x(j).toFixed(1) + "," + (FOOT - BELL * Math.exp(-((j - centre) ** 2) / (2 * sigma ** 2))).toFixed(1),
    );
    const [left, right] = [within(centre - half), within(centre + half)];
    return make(
      "svg",
      {
        viewBox: [0, 0, WIDTH, FOOT + 34].join(" "),
        class: "live-curve",
        role: "img",
        "aria-label": "The window, its centre and the Gaussian",
      },
      make("rect", { x: left, y: 8, width: right - left, height: FOOT - 8, class: "rewarded" }),
      make("line", { x1: 0, x2: WIDTH, y1: FOOT, y2: FOOT, class: "axis" }),
      make("polyline", { points: bell.join(" ") }),
      make("line", { x1: x(centre), x2: x(centre), y1: 0, y2: FOOT + 6, class: "plain", "stroke-width": 3 }),
      WORDS.map((word, j) => make("text", { x: x(j), y: FOOT + 28, "text-anchor": "middle" }, j + " " + word)),
    );
  }

  LIVE.figure("window", {
    title: "A window over six words",
    todo: "At the start the score prefers “seven”, but “two”, where the centre stands, has the largest weight. First move the centre from 3.0 to 2.9: what happens to the sum of the weights, and why? Then move it to the right: from where on does “seven” have the largest weight? Last, press “Start again” and make σ 5: which word wins?",
    learned:
      "At 2.9, the weights sum to 0.80, and at 3 only to 0.50: there “seven” enters the window, takes 0.44 of the softmax, and loses most of it to the Gaussian. A small sum says that score and centre disagree. From 3.9 on, “seven” has the largest weight. With σ = 5, “seven” wins even at 3: the Gaussian is too wide to decide.",
    about:
      "Shaded: the window. Dashed: its centre. The curve is the Gaussian. No network runs here: the scores are those of the chapter’s example, logarithms of 1, 1, 2, 6, 1 and 8. In the paper σ is half of D; here the two move alone.",
    defaults: { centre: 3, half: 2, sigma: 1 },
    draw(room, state, kept) {
      const said = words(),
        line = make("div", { style: "margin-top: 0.5rem" }),
        board = make("div", { class: "live-planes", style: "grid-template-columns: repeat(3, minmax(0, 1fr)); column-gap: 0.6rem" });
      const column = (title, shares, inside) =>
        LIVE.bars(
          title,
          shares.map((share, j) => [j + " " + WORDS[j], inside[j] ? share : 0, inside[j] ? share.toFixed(2) : "out"]),
        );

      function show() {
        const { inside, inWindow, gaussian, total, weights } = LIVE.localWindow(SCORES, state);
        refill(line, ruler(state));
        refill(board, column("Softmax", inWindow, inside), column("Gaussian", gaussian, inside), column("Weights", weights, inside));
        const largest = weights.indexOf(Math.max(...weights));
        said.say(
          "The centre is at " +
            state.centre.toFixed(1) +
            ", and the window holds " +
            inside.filter(Boolean).length +
            " of 6 words. “" +
            WORDS[largest] +
            "” at position " +
            largest +
            " has the largest weight, " +
            weights[largest].toFixed(2) +
            ". The weights sum to " +
            total.toFixed(2) +
            ".",
        );
      }
      const dial = (name, key, from, to, step) =>
        slider(name, { from, to, step, value: state[key], shown: (value) => value.toFixed(1) }, (value) => {
          kept({ [key]: value });
          show();
        });
      room.append(
        dial("Centre p", "centre", 0, 5, 0.1),
        dial("Half-width D", "half", 1, 5, 0.5),
        dial("Width σ of the Gaussian", "sigma", 0.5, 5, 0.1),
        line,
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
