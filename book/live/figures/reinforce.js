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
    ["none", "no baseline"],
    ["constant", "constant b"],
    ["others", "leave-one-out"],
    ["exact", "exact gradient"],
  ];

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

  LIVE.figure("reinforce", {
    title: "What a baseline is good for",
    todo: "On this canvas all rewards are lower by 3. Move “Added to all rewards” to 0: which bars stay the same, and which of the others change most? Then go back to −3, and look for the constant b with the least variance. Finally begin with the policy that is nearly sure of the two.",
    learned:
      "What is added to all rewards changes neither the exact gradient nor leave-one-out, because only differences between rewards count there. Without a baseline it is pure noise: with −3 many trainings become sure of a wrong cell, and such a cell is hardly ever left, because the others are hardly ever drawn. A constant helps if it is near the usual reward of this canvas; as the figure begins, the variance is least at −4.9, and not at the expected reward, −5.2. With more draws leave-one-out gains most, because its baseline becomes more precise, too. From a policy that is nearly sure of the two all learn late, even along the exact gradient.",
    about:
      "The three cells of Chapter 6 with the rewards −3, −1 and −2, to which the first slider adds a number; the seven is the best. Variances are computed over all possible draws. Bars of trainings show the mean of " +
      TRAININGS +
      " trainings that change the three scores by " +
      RATE +
      " times the estimate per step, with the same random numbers each time.",
    defaults: { shift: -3, constant: -2.2, draws: 2, steps: 20, start: "early" },
    draw(room, state, kept) {
      const said = words(),
        results = make("div", { class: "live-planes" });

      function show() {
        const rewards = REWARDS.map((reward) => reward + state.shift),
          start = STARTS[state.start];
        const exact = LIVE.exactGradient(start, rewards),
          spreads = WAYS.slice(0, 3).map(([way]) => LIVE.spreadOfEstimate(state.draws, start, rewards, way, state.constant).variance);
        const ends = WAYS.map(([way]) => LIVE.trainedByDraws(state.steps, state.draws, start, rewards, way, state.constant));
        results.replaceChildren(
          LIVE.bars(
            "Variance of the estimate, " + state.draws + " draws",
            spreads.map((variance, n) => [WAYS[n][1], variance / Math.max(...spreads), variance.toFixed(2)]),
          ),
          LIVE.bars(
            "Probability of the seven after " + state.steps + " steps",
            ends.map((share, n) => [WAYS[n][1], share, percent(share)]),
          ),
        );
        said.say(
          "The rewards are " +
            rewards.map((reward) => signed(reward, 1)).join(", ") +
            ". With every baseline the mean estimate is the exact gradient, (" +
            exact.map((one) => signed(one)).join(", ") +
            "). Its variance is " +
            spreads.map((variance, n) => variance.toFixed(2) + " with " + WAYS[n][1]).join(", ") +
            ". After " +
            state.steps +
            " steps the seven has, on average, " +
            ends.map((share, n) => percent(share) + " with " + (n === 3 ? "the exact gradient" : WAYS[n][1])).join(", ") +
            ".",
        );
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
          "Probabilities of two, seven and empty at the start",
          Object.entries(STARTS).map(([name, chances]) => [name, chances.join(", ")]),
          state.start,
          change("start"),
        ),
        results,
        said.element,
      );
      show();
    },
  });
})(globalThis);
