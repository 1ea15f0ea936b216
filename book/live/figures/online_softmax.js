// Softmax and weighted sum of a row of scores, block by block: maximum, sum and output so far (chapter 12).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, entry, buttons, words, softmax } = LIVE;
  const VALUES = (count) => Array.from({ length: count }, (_, i) => i + 1), // one feature, so that it can be added by hand
    MOST = 10000, // of a score's size
    LARGEST_32 = Math.log(3.4e38), // whose exponential 32 bits can just hold
    WIDEST = 8; // of a block on the slider, whose track is the same for all lists
  const PRESETS = [
    ["the chapter's", [2, 4, 6, 5]],
    ["largest first", [7, 6, 5, 4, 2]],
    ["rising", [0, 1, 2, 3, 4, 5, 6, 7]],
    ["very large", [700, 701, 702, 703]],
  ];

  // After each block: the largest score so far, by which factor the old sums shrink, the total of exp(score − largest), and
  // the sum of these times the values. Milakov and Gimelshein 2018; Dao et al. 2022, algorithm 1. `shrunk`: false leaves
  // the old sums as they were, which is wrong.
  LIVE.onlineSoftmax = function (scores, values, block, shrunk = true) {
    const steps = [{ largest: -Infinity, shrink: 1, total: 0, summed: 0 }];
    for (let at = 0; at < scores.length; at += block) {
      const before = steps[steps.length - 1],
        part = scores.slice(at, at + block),
        largest = Math.max(before.largest, ...part);
      const shrink = shrunk ? Math.exp(before.largest - largest) : 1,
        gains = part.map((score) => Math.exp(score - largest));
      steps.push({
        largest,
        shrink,
        total: before.total * shrink + gains.reduce((a, b) => a + b, 0),
        summed: before.summed * shrink + gains.reduce((sum, gain, i) => sum + gain * values[at + i], 0),
        from: at,
        to: Math.min(at + block, scores.length),
      });
    }
    return steps;
  };
  const number = (score) => String(Math.round(100 * score) / 100).replace("-", "−");
  const contextOf = ({ summed, total }) => summed / total;

  const parsed = (text) =>
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map((word) => Number(word.replace("−", "-")));

  LIVE.figure("online_softmax", {
    title: "Softmax in blocks",
    todo: "The chapter reads its blocks from the front; the first has been read here. Guess what changes when the last block comes first: by which factor will the old sums shrink, and what will the context be? Then press “back to front”. The column “without factor” leaves the factor out.",
    learned:
      "Only three numbers are kept between blocks: the largest score so far, the total, and the weighted sum. When a block brings a larger score, both sums shrink by exp(old − new), because they were computed with a smaller maximum. Read back to front, the chapter's largest score comes in the first block, so that the factor is 1 afterwards; and the context is 3.1288 in both orders. Without the factor, the order would matter: 2.6393 from the front, and 3.1288 only from the back.",
    about:
      "At the start these are the scores and values of the chapter's example. The scores are yours; the values are 1, 2, 3 and so on, and stay with their scores. “largest” is the largest score so far, and “term” is exp(score − largest).",
    defaults: { scores: [2, 4, 6, 5], block: 2, step: 1, turned: false },
    draw(room, state, kept) {
      const said = words(),
        table = make("table", { class: "live-table" }),
        picture = make("div", {}),
        presets = make("div", {}),
        order = make("div", {}),
        perBlock = make("div", {}),
        read = make("div", {});

      function show() {
        const inOrder = (list) => (state.turned ? list.slice().reverse() : list),
          scores = inOrder(state.scores),
          values = inOrder(VALUES(scores.length)),
          steps = LIVE.onlineSoftmax(scores, values, state.block),
          without = LIVE.onlineSoftmax(scores, values, state.block, false);
        const at = Math.min(state.step, steps.length - 1),
          now = steps[at];
        const whole = Array.from(softmax(Float64Array.from(scores))),
          answer = whole.reduce((total, w, i) => total + w * values[i], 0);
        const term = (i) => Math.exp(scores[i] - now.largest); // of what has been read
        const rows = [(i) => number(scores[i]), (i) => values[i], (i) => (i < now.to ? term(i).toFixed(2) : "–")];
        picture.replaceChildren(
          LIVE.grid({
            label: "Scores and values",
            corner: "position",
            rows: ["score", "value", "term"],
            columns: inOrder(scores.map((_, i) => String(i))),
            cell: (r, c) => ({
              weight: r === 2 && c < now.to ? term(c) : 0,
              mark: c >= now.to ? "is-later" : c >= now.from ? "is-now" : "",
              title: "",
            }),
          }),
        );
        picture
          .querySelectorAll("tbody tr")
          .forEach((row, r) => row.querySelectorAll("td").forEach((cell, c) => (cell.textContent = rows[r](c))));
        const cells = (step, i) => [
          number(step.largest),
          i ? step.shrink.toFixed(4) : "–",
          step.total.toFixed(4),
          step.summed.toFixed(4),
          contextOf(step).toFixed(4),
          contextOf(without[i + 1]).toFixed(4),
        ];
        const names = ["block", "largest", "factor", "total", "weighted sum", "context", "without factor"];
        const head = names.map((name) => make("th", { scope: "col" }, name));
        table.replaceChildren(
          make("thead", {}, make("tr", {}, head)),
          make(
            "tbody",
            {},
            steps.slice(1, at + 1).map((step, i) =>
              make(
                "tr",
                {},
                make("th", { scope: "row" }, String(i + 1)),
                cells(step, i).map((text) => make("td", {}, text)),
              ),
            ),
          ),
        );
        said.say([told(steps, at), at === steps.length - 1 ? end(steps, without, answer) : left(now)].join(" "));
      }

      function told(steps, at) {
        const { largest, shrink } = steps[at];
        return at === 1
          ? "The first block alone: its largest score is " + number(largest) + "."
          : shrink < 1
            ? "The largest score rises from " +
              number(steps[at - 1].largest) +
              " to " +
              number(largest) +
              ", so the old sums are multiplied by exp(" +
              number(steps[at - 1].largest - largest) +
              ") = " +
              shrink.toFixed(4) +
              "."
            : "The largest score stays " + number(largest) + ", so the factor is 1 and the old sums stay as they are.";
      }
      const left = (now) =>
        "Context so far: " + contextOf(now).toFixed(4) + ". Scores not yet read: " + (state.scores.length - now.to) + ".";
      function end(steps, without, answer) {
        const wrong = contextOf(without.at(-1)),
          { largest } = steps.at(-1);
        return (
          "Context: " +
          contextOf(steps.at(-1)).toFixed(4) +
          "; the softmax over all scores at once gives " +
          answer.toFixed(4) +
          "." +
          (steps.length < 3
            ? ""
            : steps.slice(2).every(({ shrink }) => shrink === 1)
              ? " Here it is the same without the factor."
              : " Without the factor it would be " + wrong.toFixed(4) + ".") +
          (largest > LARGEST_32 ? " And exp(" + number(largest) + ") alone, without the maximum subtracted, is too large for 32 bits." : "")
        );
      }

      function take(scores) {
        kept({ scores, step: Math.ceil(scores.length / state.block) }); // all blocks: there is something to compare
        line.field.value = scores.join(" "); // as they were read
        rebuild();
      }
      function rebuild() {
        const is = (scores) => scores.join() === state.scores.join();
        const enter = (scores) => () => {
          line.field.value = scores.join(" ");
          line.enter();
        };
        refill(presets, buttons(...PRESETS.map(([name, scores]) => [name, enter(scores), is(scores)])));
        const turn = () => {
          kept({ turned: !state.turned, step: Math.ceil(state.scores.length / state.block) });
          rebuild();
        };
        refill(order, buttons(["back to front", turn, state.turned]));
        const shown = (block) => block + (block < state.scores.length ? "" : " (all)");
        const most = Math.max(WIDEST, state.block);
        perBlock.replaceChildren(
          slider("Scores per block", { from: 1, to: most, step: 1, value: state.block, shown }, (block) => {
            const count = (size) => Math.ceil(state.scores.length / size),
              all = state.step >= count(state.block); // what was read to the end stays so
            kept({ block, step: all ? count(block) : Math.min(state.step, count(block)) });
            blocks();
          }),
        );
        blocks();
      }
      function blocks() {
        const count = Math.ceil(state.scores.length / state.block),
          shown = (n) => n + " of " + count;
        read.replaceChildren(
          slider("Blocks read", { from: 1, to: count, step: 1, value: Math.min(state.step, count), shown }, (step) => {
            kept({ step });
            show();
          }),
        );
        show();
      }

      const line = entry("Scores (or two to sixteen of your own)", { value: state.scores.join(" "), button: "Read these" }, (text) => {
        if (/\d,\d/.test(text) && /[\s;]/.test(text.trim())) {
          return "Please write decimals with a point and put spaces between the numbers, such as 1.5 2.5.";
        }
        const scores = parsed(text);
        if (scores.length < 2 || scores.length > 16 || scores.some((n) => !(Math.abs(n) <= MOST))) {
          return "Please write two to sixteen numbers from −10,000 to 10,000 with spaces between them, such as 1 3 0 2.";
        }
        take(scores);
        return "";
      });
      room.append(
        presets,
        line.element,
        order,
        perBlock,
        read,
        picture,
        make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "After each block" }, table),
        said.element,
      );
      rebuild();
    },
  });
})(globalThis);
