// Softmax and weighted sum of a row of scores, block by block: maximum, sum and output so far (chapter 12).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, entry, words, signed, softmax } = LIVE;
  const VALUES = (count) => Array.from({ length: count }, (_, i) => i % 4); // one feature, so that it can be added by hand

  // After each block: the largest score so far, the sum of exp(score − largest), the output, and the factor that
  // rescaled what was there. Milakov and Gimelshein 2018; Dao et al. 2022, algorithm 1.
  LIVE.onlineSoftmax = function (scores, values, block) {
    const steps = [{ most: -Infinity, sum: 0, output: 0, factor: 1 }];
    for (let at = 0; at < scores.length; at += block) {
      const before = steps[steps.length - 1],
        part = scores.slice(at, at + block),
        most = Math.max(before.most, ...part);
      const factor = before.sum ? Math.exp(before.most - most) : 0,
        gains = part.map((score) => Math.exp(score - most));
      const sum = before.sum * factor + gains.reduce((a, b) => a + b, 0);
      const output = (before.output * before.sum * factor + gains.reduce((total, gain, i) => total + gain * values[at + i], 0)) / sum;
      steps.push({ most, sum, output, factor, from: at, to: Math.min(at + block, scores.length) });
    }
    return steps;
  };

  const parsed = (text) =>
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map((word) => Number(word.replace("−", "-")));

  LIVE.figure("online_softmax", {
    title: "Softmax in blocks",
    todo: "Go through the blocks. Where are the earlier sum and output made smaller, and why? Then write the largest score first, or last.",
    learned:
      "Only three numbers are kept between blocks: the largest score, the sum, and the output. When a block brings a larger score, what was there is multiplied by exp(old − new), because it was measured against a maximum that is no longer the largest. In the end the output equals the softmax over all scores at once, though they never lay in memory together.",
    about: "The scores are yours; the values are 0, 1, 2, 3, repeated, so that you can check each sum by hand.",
    defaults: { scores: [1, 3, 0, 2, 5, 1, 0, 4], block: 2, step: 1 },
    draw(room, state, kept) {
      const said = words(),
        table = make("table", { class: "live-table" }),
        picture = make("div", {}),
        controls = make("div", {});

      function show() {
        const values = VALUES(state.scores.length),
          steps = LIVE.onlineSoftmax(state.scores, values, state.block);
        const at = Math.min(state.step, steps.length - 1),
          { most, sum, output, factor, from, to } = steps[at];
        const whole = Array.from(softmax(Float64Array.from(state.scores))),
          answer = whole.reduce((total, w, i) => total + w * values[i], 0);
        picture.replaceChildren(
          LIVE.grid({
            label: "Scores and values",
            rows: ["score", "value", "weight at the end"],
            columns: state.scores.map((_, i) => String(i)),
            cell: (r, c) => ({ weight: r === 2 ? whole[c] : 0, mark: c >= to ? "is-later" : c >= from ? "is-now" : "", title: "" }),
          }),
        );
        picture.querySelectorAll("tbody tr").forEach((row, r) =>
          row.querySelectorAll("td").forEach((cell, c) => {
            cell.textContent =
              r === 0 ? signed(state.scores[c], Number.isInteger(state.scores[c]) ? 0 : 1) : r === 1 ? values[c] : LIVE.percent(whole[c]);
          }),
        );
        table.replaceChildren(
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ["", "largest", "factor for what was there", "sum", "output"].map((name) => make("th", { scope: "col" }, name)),
            ),
          ),
          make(
            "tbody",
            {},
            steps
              .slice(1, at + 1)
              .map((step, i) =>
                make(
                  "tr",
                  {},
                  make("th", { scope: "row" }, "block " + (i + 1)),
                  make("td", {}, signed(step.most, 1)),
                  make("td", {}, i ? step.factor.toFixed(3) : "–"),
                  make("td", {}, step.sum.toFixed(3)),
                  make("td", {}, signed(step.output, 3)),
                ),
              ),
          ),
        );
        const told =
          at === 1
            ? "The first block alone"
            : factor < 1
              ? "A larger score has come, so the earlier sum is multiplied by " + factor.toFixed(3) + " before this block is added"
              : "The largest score stays, so the earlier sum keeps its size";
        said.say(
          told +
            ": maximum " +
            signed(most, 1) +
            ", sum " +
            sum.toFixed(3) +
            ", output " +
            signed(output, 3) +
            ". " +
            (to === state.scores.length
              ? "All scores at once give " + signed(answer, 3) + " as well."
              : state.scores.length - to + " scores have not been read yet."),
        );
      }

      function rebuild() {
        const count = Math.ceil(state.scores.length / state.block);
        controls.replaceChildren(
          slider("Scores per block", { from: 1, to: state.scores.length, step: 1, value: state.block }, (block) => {
            kept({ block, step: 1 });
            rebuild();
            controls.firstChild.querySelector("input").focus();
          }),
          slider(
            "Blocks read",
            { from: 1, to: count, step: 1, value: Math.min(state.step, count), shown: (n) => n + " of " + count },
            (step) => {
              kept({ step });
              show();
            },
          ),
        );
        show();
      }

      const line = entry(
        "Scores (up to sixteen numbers)",
        { value: state.scores.join(" "), button: "Take these", examples: ["9 1 1 1 1 1 1 1", "0 1 2 3 4 5 6 7", "700 701 702 703"] },
        (text) => {
          const scores = parsed(text);
          if (scores.length < 2 || scores.length > 16 || scores.some((n) => !Number.isFinite(n))) {
            return "Please write two to sixteen numbers with spaces between them, such as 1 3 0 2.";
          }
          kept({ scores, block: Math.min(state.block, scores.length), step: 1 });
          rebuild();
          return "";
        },
      );
      room.append(
        line.element,
        controls,
        picture,
        make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "After each block" }, table),
        said.element,
      );
      rebuild();
    },
  });
})(globalThis);
