// Sampling the next token of SmolLM2: temperature, top-k and top-p on a real distribution over 49,152 tokens.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, slider, buttons, words, counted, percent, drawn } = LIVE;
  const SHOWN = 12;

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
    todo: "The 200 most probable tokens are known here by name, all others by rank only; the last row, “all others”, shows how much these have together. Draw twenty tokens at temperature 1, then at 2: how many of them stand after rank 200? Keep temperature 2 and lower top-p until “all others” has 0 %: where is top-p then? Then set temperature 1 and top-p 0.9, and compare the three beginnings: how many tokens can be drawn?",
    learned:
      "After “The capital of France is”, the tokens after rank 200 have 2.2 % together at temperature 1, and 70 % at temperature 2: each of them is improbable, but there are almost 49,000. At temperature 2, top-p must fall to 0.3 before they can't be drawn any more; even then, tokens such as “Ch” and “(” can, because many tokens are only the beginning of a word, and a nucleus leaves out what is improbable, not what is wrong. Top-k cuts at the rank that one sets, however certain the model is. At temperature 1, a top-p of 0.9 keeps 10 tokens after “The capital of France is”, where the model is certain, 242 after “For dinner tonight I would like to eat”, and 546 after “Once upon a time there was a”.",
    about: "Stored logits of SmolLM2-135M-Instruct (Chapter 19): the 200 most probable of its 49,152 tokens by name, the others by rank.",
    packs: ["smollm2_next_words"],
    defaults: { beginning: 0, temperature: 1, k: 0, p: 1 },
    draw(room, state, kept, pack) {
      const bars = make("div", {}),
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
        bars.replaceChildren(
          LIVE.bars("“" + pack.beginnings[state.beginning].beginning + " …”", [
            ...named()
              .slice(0, SHOWN)
              .map(([word], i) => [shown(word), chances[i], shareOf(chances[i])]),
            ["the next " + (named().length - SHOWN) + " tokens", rest(SHOWN, named().length), shareOf(rest(SHOWN, named().length))],
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
      room.append(
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
        one("k", "Top-k", { from: 0, to: 100, step: 1, shown: (n) => (n ? String(n) : "all") }),
        one("p", "Top-p, the size of the nucleus", { from: 0.05, to: 1, step: 0.05, shown: (n) => n.toFixed(2) }),
        bars,
        said.element,
        buttons(["Draw twenty tokens", draw]),
        result,
      );
      show();
    },
  });
})(globalThis);
