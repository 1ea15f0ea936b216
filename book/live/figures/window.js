// A window over six words: its softmax, its Gaussian, and what becomes of both in the paper's form and with a bias.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, words, softmax } = LIVE;
  const WORDS = ["six", ",", "forty", "two", ",", "seven"],
    SCORES = [1, 1, 2, 6, 1, 8].map(Math.log); // those of Chapter 4's example
  const FORMS = [
    ["product", "softmax, then times the Gaussian (the paper)"],
    ["bias", "Gaussian’s logarithm added to the scores"],
  ];

  // Luong's equation 10, and the same normalised again. Nothing lies outside the sentence, so a window is never empty.
  LIVE.localWindow = function (scores, { centre, half, sigma, form }) {
    const inside = scores.map((_, j) => Math.abs(j - centre) <= half),
      attended = scores.map((_, j) => j).filter((j) => inside[j]);
    const shares = softmax(attended.map((j) => scores[j])),
      inWindow = scores.map((_, j) => (inside[j] ? shares[attended.indexOf(j)] : 0));
    const gaussian = scores.map((_, j) => Math.exp(-((j - centre) ** 2) / (2 * sigma ** 2)));
    const product = inWindow.map((share, j) => share * gaussian[j]),
      total = product.reduce((sum, weight) => sum + weight, 0);
    return { inside, inWindow, gaussian, total, weights: form === "bias" ? product.map((weight) => weight / total) : product };
  };

  LIVE.figure("window", {
    title: "A window over six words",
    todo: "The score prefers “seven”, but the centre stands at “two”, which has the largest weight. Move the centre a little to the left: what happens to the sum of the weights when “seven” is outside? Then move it to the right: from where on does “seven” have the largest weight? Watch the sum at position 1, too. Then choose the other form, and move the centre again: what can the sum no longer tell? Last, put the centre back to 3 and make σ 5: which word wins?",
    learned:
      "At 2.9, the weights sum to 0.80, and at 3 only to 0.50: there “seven” enters the window, takes 0.44 of the softmax, and loses most of it to the Gaussian. From 3.9 on, “seven” has the largest weight. At position 1 the sum is 0.36, for the same reason: “two” has most of the softmax and stands at the edge. A small sum says that score and centre disagree. With the Gaussian’s logarithm added to the scores the largest weight is at the same word, but the weights always sum to 1, and the disagreement can no longer be seen in them. With σ = 5, “seven” wins even at 3: the Gaussian is too wide to decide.",
    about: "No network runs here: the scores are those of the chapter’s example, logarithms of 1, 1, 2, 6, 1 and 8.",
    defaults: { centre: 3, half: 2, sigma: 1, form: "product" },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", { class: "live-planes" });
      const column = (title, shares, inside) =>
        LIVE.bars(
          title,
          shares.map((share, j) => [j + " " + WORDS[j], share, inside[j] ? share.toFixed(2) : "outside"]),
        );

      function show() {
        const { inside, inWindow, gaussian, total, weights } = LIVE.localWindow(SCORES, state);
        refill(
          board,
          column("Softmax in the window", inWindow, inside),
          column("Gaussian", gaussian, inside),
          column("Weights", weights, inside),
        );
        const largest = weights.indexOf(Math.max(...weights)),
          sum = weights.reduce((all, weight) => all + weight, 0);
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
            sum.toFixed(2) +
            (state.form === "bias" ? "; before they were divided by it, their sum was " + total.toFixed(2) : "") +
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
        choice("Form", FORMS, state.form, (form) => {
          kept({ form });
          show();
        }),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
