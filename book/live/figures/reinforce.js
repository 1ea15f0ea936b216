// REINFORCE on three cells: the variance of its estimate by the baseline, and what trainings with it come to.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent, signed, softmax, drawn } = LIVE;
  const REWARDS = [-3, -1, -2], // of the two, the seven and the empty cell, as in Chapter 6
    BEST = 1,
    STARTS = { early: [0.5, 0.3, 0.2], sure: [0.96, 0.02, 0.02] },
    RATE = 0.5, // of a step along the estimate
    TRAININGS = 200;
  const WAYS = [
    ["none", "no baseline", "var(--pa-orange)"],
    ["constant", "constant b", "hsl(285 45% 55%)"],
    ["others", "leave-one-out", "var(--pa-blue)"],
    ["exact", "exact gradient", "var(--pst-color-text-muted)"],
  ];
  // Both axes are fixed, so that an unchanged number stays where it is. Variances: 0.001 to 100, each line ten times the last.
  const LEAST = -3,
    DECADES = 5,
    onLog = (variance) => (Math.log10(variance) - LEAST) / DECADES,
    VARIANCES = Array.from({ length: DECADES + 1 }, (_, n) => [n / DECADES, n % 2 ? "" : String(10 ** (LEAST + n))]),
    SHARES = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, share % 0.5 ? "" : 100 * share + " %"]);

  const BEGINNING = { shift: -3, constant: -2.2, draws: 2, steps: 20, start: "early" };

  const total = (numbers) => numbers.reduce((sum, one) => sum + one, 0),
    factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));

  // The gradient of the expected reward with respect to the scores, α (R − J).
  LIVE.exactGradient = function (chances, rewards) {
    const expected = total(chances.map((chance, i) => chance * rewards[i]));
    return chances.map((chance, i) => chance * (rewards[i] - expected));
  };

  // The mean of the estimates (R − b) ∇ log α of draws of which `counts[i]` fell on cell i; `way` says what b is.
  LIVE.estimate = function (counts, chances, rewards, way, constant) {
    const draws = total(counts),
      sum = total(counts.map((count, i) => count * rewards[i]));
    const baseline = (i) => ({ none: 0, constant, others: (sum - rewards[i]) / (draws - 1) })[way];
    const pulls = counts.map((count, i) => (count ? (count / draws) * (rewards[i] - baseline(i)) : 0)),
      pull = total(pulls);
    return chances.map((chance, i) => pulls[i] - chance * pull);
  };

  // Over all ways in which so many draws can fall: the mean of the estimate, and its variance, summed over the scores.
  LIVE.spreadOfEstimate = function (draws, chances, rewards, way, constant) {
    const found = [];
    for (let i = 0; i <= draws; i++) {
      for (let j = 0; i + j <= draws; j++) {
        const counts = [i, j, draws - i - j],
          orders = counts.reduce((left, count) => left / factorial(count), factorial(draws));
        const chance = counts.reduce((product, count, n) => product * chances[n] ** count, orders);
        found.push([chance, LIVE.estimate(counts, chances, rewards, way, constant)]);
      }
    }
    const mean = chances.map((_, n) => total(found.map(([chance, each]) => chance * each[n])));
    const apart = (each) => total(each.map((one, n) => (one - mean[n]) ** 2));
    return { mean, variance: total(found.map(([chance, each]) => chance * apart(each))) };
  };

  // The mean probability of the best cell over TRAININGS of so many steps; the random numbers are always the same.
  LIVE.trainedByDraws = function (steps, draws, start, rewards, way, constant) {
    let sum = 0;
    const random = LIVE.chanceFrom(1);
    for (let n = 0; n < TRAININGS; n++) {
      let scores = start.map(Math.log),
        chances = start;
      for (let step = 0; step < steps; step++) {
        let slope = null;
        if (way === "exact") {
          slope = LIVE.exactGradient(chances, rewards);
        } else {
          const counts = [0, 0, 0];
          for (let k = 0; k < draws; k++) {
            counts[drawn(chances, random())] += 1;
          }
          slope = LIVE.estimate(counts, chances, rewards, way, constant);
        }
        scores = scores.map((score, i) => score + RATE * slope[i]);
        chances = Array.from(softmax(Float64Array.from(scores)));
      }
      sum += chances[BEST];
    }
    return sum / TRAININGS;
  };

  // What stands at a share of an axis's width.
  const at = (share, style, text) =>
    make("i", { style: "position:absolute;left:" + (100 * share).toFixed(1) + "%;transform:translate(-50%,-50%);" + style }, text);
  const round = (size, style) => "top:50%;width:" + size + ";height:" + size + ";border-radius:50%;" + style;

  // An axis with its lines, a ring where the dot was at first, the dot, and the number; no dot where `share` is null.
  const axis = (lines, share, first, colour, number) =>
    make(
      "span",
      { style: "display:grid;grid-template-columns:minmax(0,1fr) 3.2rem;gap:0.8rem;align-items:center" },
      make(
        "span",
        { style: "position:relative;height:1.6rem;margin-left:0.8rem", "aria-hidden": "true" },
        at(0.5, "top:50%;width:100%;height:2px;background:var(--pst-color-border)"),
        lines.map(([where]) => at(where, "top:50%;width:1px;height:70%;background:var(--pst-color-border)")),
        share === null ? null : at(first, round("1.15rem", "border:2px solid " + colour)),
        share === null ? null : at(share, round("0.65rem", "background:" + colour)),
      ),
      make("b", { style: "text-align:right" }, number),
    );
  const scale = (lines) =>
    make(
      "span",
      { style: "position:relative;height:1.2rem;margin:0 4rem 0 0.8rem" },
      lines.map(([where, text]) => at(where, "top:50%;font-style:normal;font-size:0.75rem;white-space:nowrap", text)),
    );
  // A row: its name, and beside or (on a phone) below it what belongs to the two axes.
  const shown = (variance) => variance.toFixed(variance < 0.01 ? 3 : 2);
  const row = (tag, attributes, name, ...two) =>
    make(
      tag,
      { ...attributes, style: "display:flex;flex-wrap:wrap;gap:0 1rem;align-items:center;padding:0.1rem 0" },
      make("span", { style: "flex:0 0 7rem" }, name),
      make("span", { style: "flex:1 1 18rem;display:grid;grid-template-columns:1fr 1fr;gap:0 1.2rem;align-items:end" }, ...two),
    );

  LIVE.figure("reinforce", {
    title: "What a baseline is good for",
    todo: "First move “Added to all rewards” from −3 to 0: which dots leave their rings, and which stay? Then go back to −3, and look for the constant b with the least variance.",
    learned:
      "What is added to all rewards changes neither the exact gradient nor leave-one-out, because only differences between rewards count there. Without a baseline it is pure noise: with −3 many trainings become sure of a wrong cell, and such a cell is hardly ever left, because the others are hardly ever drawn. A constant helps if it is near the usual reward of this canvas (no baseline is the constant 0, which wins at +2); as the figure begins, the variance is least at −4.9, and not at the expected reward, −5.2. With more draws leave-one-out gains most, because its baseline becomes more precise, too. And if you begin with a policy that is nearly sure of the two (0.96), all learn late, even along the exact gradient.",
    about:
      "The three cells of Chapter 6 with the rewards −3, −1 and −2, to which the first slider adds a number; the seven is the best. Variances are computed over all possible draws; their axis is logarithmic. The percentages are the mean of " +
      TRAININGS +
      " trainings that change the three scores by " +
      RATE +
      " times the estimate per step, with the same random numbers each time.",
    defaults: BEGINNING,
    draw(room, state, kept) {
      const said = words(),
        results = make("div", { class: "live-bars", style: "margin-top:0.9rem;text-align:left" });
      const foundAt = ({ shift, constant, draws, steps, start }) => {
        const rewards = REWARDS.map((reward) => reward + shift),
          given = [STARTS[start], rewards];
        return {
          rewards,
          spreads: WAYS.slice(0, 3).map(([way]) => LIVE.spreadOfEstimate(draws, ...given, way, constant).variance),
          ends: WAYS.map(([way]) => LIVE.trainedByDraws(steps, draws, ...given, way, constant)),
        };
      };
      const first = foundAt(BEGINNING); // the rings

      function show() {
        const { rewards, spreads, ends } = foundAt(state),
          start = STARTS[state.start],
          usual = total(start.map((chance, i) => chance * rewards[i])),
          exact = LIVE.exactGradient(start, rewards);
        const head = (text) => make("span", { style: "font-size:0.85rem;line-height:1.25;font-weight:600" }, text);
        results.replaceChildren(
          row("div", {}, "", head("Variance, " + state.draws + " draws"), head("Seven after " + state.steps + " steps")),
          make(
            "ol",
            {},
            WAYS.map(([, name, colour], n) =>
              row(
                "li",
                {},
                name,
                n < 3
                  ? axis(VARIANCES, onLog(spreads[n]), onLog(first.spreads[n]), colour, shown(spreads[n]))
                  : axis(VARIANCES, null, null, colour, "0"),
                axis(SHARES, ends[n], first.ends[n], colour, percent(ends[n])),
              ),
            ),
          ),
          row("div", { "aria-hidden": "true" }, "", scale(VARIANCES), scale(SHARES)),
        );
        said.say(
          "The rewards are " +
            rewards.map((reward) => signed(reward, 1)).join(", ") +
            ", and the expected reward is " +
            signed(usual, 1) +
            ". " +
            leastOf(spreads, usual) +
            " " +
            comparedAt(ends) +
            " With every baseline the mean estimate is the exact gradient, (" +
            exact.map((one) => signed(one)).join(", ") +
            ").",
        );
      }
      function leastOf(spreads, usual) {
        const n = spreads.indexOf(Math.min(...spreads)),
          named = ["No baseline", "The constant b", "Leave-one-out"][n] + " has the least variance here, " + shown(spreads[n]),
          near = (b) => Math.abs(b - usual) <= 1;
        if (n === 2) {
          const far = !near(0) && !near(state.constant);
          return named + (far ? ": 0 and b\u00a0=\u00a0" + one(state.constant) + " are far from the expected reward." : ".");
        }
        const b = n ? state.constant : 0;
        return named + (near(b) ? ": b\u00a0=\u00a0" + signed(b, n) + " is near the expected reward." : ".");
      }
      function comparedAt(ends) {
        const worst = Math.min(...ends),
          after = "After " + state.steps + " steps ";
        if (worst >= 0.97) {
          return after + "all four have learned the seven; compare them after fewer steps.";
        }
        if (Math.max(...ends) <= 0.3) {
          return after + "none has learned the seven, not even along the exact gradient; take more steps.";
        }
        const name = WAYS[ends.indexOf(worst)][1];
        return ends[3] - worst < 0.05
          ? after + "all four are about level."
          : after + "the seven has " + percent(worst) + " with " + name + ", and " + percent(ends[3]) + " with the exact gradient.";
      }
      const change = (key) => (value) => {
        kept({ [key]: value });
        show();
      };
      const one = (number) => signed(number, 1);
      room.append(
        slider("Added to all rewards", { from: -4, to: 4, step: 0.5, value: state.shift, shown: one }, change("shift")),
        slider("Constant b", { from: -7, to: 3, step: 0.1, value: state.constant, shown: one }, change("constant")),
        slider("Draws per step", { from: 2, to: 8, step: 1, value: state.draws }, change("draws")),
        slider("Steps of training", { from: 5, to: 100, step: 5, value: state.steps }, change("steps")),
        choice(
          "Two, seven, empty at the start",
          Object.entries(STARTS).map(([name, chances]) => [name, chances.join(", ")]),
          state.start,
          change("start"),
        ),
        results,
        make(
          "p",
          { class: "live-before" },
          "A ring marks where the dot is as the figure begins on this page. Left, each line is ten times the one before.",
        ),
        said.element,
      );
      show();
    },
  });
})(globalThis);
