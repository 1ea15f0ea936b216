// Sampling the next token of SmolLM2: temperature, top-k and top-p on a real distribution over 49,152 tokens.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, choice, slider, buttons, words, counted, percent, drawn } = LIVE;
  const SHOWN = 12,
    OFF = 101; // where the slider of top-k ends, on the right like that of top-p
  // One task at a time: its name, what to do, and the state in which it begins.
  const TASKS = [
    [
      "1 Temperature",
      "Draw twenty tokens. Then set the temperature to 2, and draw again: how many of them come from “all others” now?",
      { beginning: 0, temperature: 1, k: 0, p: 1 },
    ],
    [
      "2 Nucleus",
      "The temperature is 2. Lower top-p until “all others” has 0 %: where is top-p then? Draw: does each token that comes up make sense?",
      { beginning: 0, temperature: 2, k: 0, p: 1 },
    ],
    [
      "3 Three beginnings",
      "Top-p is 0.9, at temperature 1. Choose the other beginnings: how many tokens does the same nucleus keep? Then set top-p to off and top-k to 50: does the number still change?",
      { beginning: 0, temperature: 1, k: 0, p: 0.9 },
    ],
  ];

  // All logits, largest first: those that have a name, and between the ranks that are stored a straight line.
  LIVE.allLogits = function ({ size, named, others }) {
    const logits = new Float64Array(size);
    named.forEach(([, logit], rank) => (logits[rank] = logit));
    others.slice(1).forEach(([rank, logit], i) => {
      const [before, from] = others[i];
      for (let at = before; at <= rank; at++) {
        logits[at] = from + ((logit - from) * (at - before)) / (rank - before);
      }
    });
    return logits;
  };

  // Probabilities after temperature, then top-k (0: all), then top-p, of logits that fall. Holtzman et al. 2020.
  LIVE.chances = function (logits, { temperature, k, p }) {
    const powers = logits.map((logit) => Math.exp((logit - logits[0]) / temperature)),
      all = powers.reduce((a, b) => a + b, 0);
    let left = 0,
      end = 0;
    while (end < (k || logits.length) && (end === 0 || p >= 1 || left / all < p)) {
      left += powers[end++];
    }
    return powers.map((power, rank) => (rank < end ? power / left : 0));
  };

  LIVE.figure("sampling", {
    title: "Sampling the next token of a real model",
    todo: "Do the three tasks one after the other; each sets the sliders where it begins. “All others” are the tokens after rank 200, which have no name here. How much do they matter?",
    learned:
      "After “The capital of France is”, the tokens after rank 200 have 2.2 % together at temperature 1, and 70 % at temperature 2: each of them is improbable, but there are almost 49,000. At temperature 2, top-p must fall to 0.3 before they can't be drawn any more; even then, tokens such as “Ch” and “(” can, because many tokens are only the beginning of a word, and a nucleus leaves out what is improbable, not what is wrong. Top-k cuts at the rank that one sets, however certain the model is. At temperature 1, a top-p of 0.9 keeps 10 tokens after “The capital of France is”, where the model is certain, 242 after “For dinner tonight I would like to eat”, and 546 after “Once upon a time there was a”.",
    about: "Stored logits of SmolLM2-135M-Instruct (Chapter 19): the 200 most probable of its 49,152 tokens by name, the others by rank.",
    packs: ["smollm2_next_words"],
    defaults: { task: 0, ...TASKS[0][2] },
    draw(room, state, kept, pack) {
      const bars = make("div", {}),
        controls = make("div", {}),
        task = make("p", { class: "live-todo" }),
        said = words(),
        result = make("p", { class: "live-before", role: "status" });
      let chances = [];
      const shown = (word) => word.trim() || "␣", // a space alone can't be seen
        named = () => pack.beginnings[state.beginning].named;

      function show() {
        const logits = LIVE.allLogits(pack.beginnings[state.beginning]);
        chances = LIVE.chances(logits, state);
        const rest = (from, to) => chances.slice(from, to).reduce((a, b) => a + b, 0),
          shareOf = (share) => (share ? percent(share) : "cut"),
          possible = chances.filter((c) => c > 0).length;
        const row = (name, from, to) => [name, rest(from, to), shareOf(rest(from, to))];
        bars.replaceChildren(
          LIVE.bars(
            "“" + pack.beginnings[state.beginning].beginning + " …”: the " + SHOWN + " most probable tokens (a full bar is 100 %)",
            named()
              .slice(0, SHOWN)
              .map(([word], i) => [shown(word), chances[i], shareOf(chances[i])]),
          ),
          LIVE.bars("All tokens", [
            row("the " + SHOWN + " above", 0, SHOWN),
            row("the next " + (named().length - SHOWN), SHOWN, named().length),
            ["all others", rest(named().length), rest(named().length) ? percent(rest(named().length)) : "0 % (cut)"],
          ]),
        );
        result.textContent = "";
        said.say(
          "The most probable token, “" +
            shown(named()[0][0]) +
            "”, has " +
            percent(chances[0]) +
            ". " +
            counted(possible, "token") +
            " can be drawn; " +
            (rest(named().length)
              ? "those after rank " + named().length + " have " + percent(rest(named().length)) + " together."
              : "none after rank " + named().length + "."),
        );
      }

      function draw() {
        const found = Array.from({ length: 20 }, () => drawn(chances, Math.random()));
        const counts = new Map(),
          nameless = found.filter((rank) => rank >= named().length).sort((a, b) => a - b);
        found
          .filter((rank) => rank < named().length)
          .forEach((rank) => counts.set(shown(named()[rank][0]), (counts.get(shown(named()[rank][0])) || 0) + 1));
        const ranks = nameless.map((rank) => (rank + 1).toLocaleString("en")),
          after = counted(ranks.length, "token") + " after rank " + named().length;
        result.textContent =
          "Twenty draws: " +
          [
            ...[...counts].sort((a, b) => b[1] - a[1]).map(([word, count]) => "“" + word + "”" + (count > 1 ? " × " + count : "")),
            ...(ranks.length ? [after + " (" + (ranks.length === 1 ? "rank " : "ranks ") + ranks.join("; ") + ")"] : []),
          ].join(", ") +
          ".";
      }
      const one = (key, name, limits) =>
        slider(name, { ...limits, value: state[key] }, (value) => {
          kept({ [key]: value });
          show();
        });
      // The controls as the state has them: a task moves all of them.
      function set() {
        task.textContent = TASKS[state.task][1];
        refill(
          controls,
          choice(
            "Beginning",
            pack.beginnings.map(({ beginning }, i) => [i, beginning + " …"]),
            state.beginning,
            (beginning) => {
              kept({ beginning });
              show();
            },
          ),
          one("temperature", "Temperature", { from: 0.1, to: 3, step: 0.1, shown: (n) => n.toFixed(1) }),
          slider("Top-k", { from: 1, to: OFF, step: 1, value: state.k || OFF, shown: (n) => (n === OFF ? "off" : String(n)) }, (k) => {
            kept({ k: k === OFF ? 0 : k });
            show();
          }),
          one("p", "Top-p, the size of the nucleus", { from: 0.05, to: 1, step: 0.05, shown: (n) => (n === 1 ? "off" : n.toFixed(2)) }),
        );
        show();
      }
      room.append(
        choice(
          "Task",
          TASKS.map(([name], i) => [i, name]),
          state.task,
          (chosen) => {
            kept({ task: chosen, ...TASKS[chosen][2] });
            set();
          },
        ),
        task,
        controls,
        bars,
        said.element,
        buttons(["Draw twenty tokens", draw]),
        result,
      );
      set();
    },
  });
})(globalThis);
