// One story by six rules, token by token: what was written, how probable it was, and what else could have been written there.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, oneStop, choice, buttons, words, counted, percent } = LIVE;
  const TAIL = 9500, // a token is in the tail if all more probable ones have this many 10,000ths together
    EACH = 10_000,
    BEFORE = 4; // tokens that stand before the chosen one in the title of the bars

  // Of the first tokens of a story: which share of its pairs stood in it before, and how many come from the tail.
  LIVE.countsOf = function (steps) {
    const seen = new Set();
    let again = 0;
    steps.slice(1).forEach(([token], i) => {
      const pair = steps[i][0] + "," + token;
      again += seen.has(pair);
      seen.add(pair);
    });
    return { repeated: steps.length > 1 ? again / (steps.length - 1) : 0, tail: steps.filter(([, above]) => above >= TAIL).length };
  };

  LIVE.figure("stories", {
    title: "One beginning, six rules",
    todo: "First guess: which rule repeats the most pairs of tokens, and which takes the most tokens from the tail (framed in orange)? Then write the story of each rule to its end. Press a token to see what else could have stood there.",
    learned:
      "Greedy decoding repeats 35 % of its pairs, and takes nothing from the tail; a temperature of 0.7 repeats as much. Plain draws, at temperature 1, take 6 and 10 tokens of 140 from the tail, and at 1.5 these are 44 and 41. A nucleus of 0.95 cuts exactly this tail off, and top-k 50 nearly always. What a plain draw repeats differs from seed to seed, here 22 and 2 %: single stories do not rank the rules.",
    about:
      "Stories of 140 tokens by SmolLM2-135M-Instruct (Chapter 19), two random seeds for each rule that draws; the end of a text is forbidden. A pair of neighbouring tokens is repeated if it stood in the story before. The darker a token, the more probable it was for the model.",
    packs: ["smollm2_stories"],
    defaults: { rule: 0, seed: 0, written: 12, at: 11 },
    draw(room, state, kept, { told }) {
      const { beginning, pieces, stories } = told,
        rules = [...new Set(stories.map(({ rule }) => rule))],
        controls = make("div", {}),
        page = make("div", {}),
        bars = make("div", {}),
        said = words();
      const seen = (token) => pieces[token].trim() || (pieces[token].includes("\n") ? "↵" : "␣"),
        story = () => {
          const own = stories.filter(({ rule }) => rule === rules[state.rule]);
          return (own.find(({ seed }) => seed === state.seed) || own[0]).steps;
        };

      function token([number, above, , ...rows], at) {
        const [, p] = rows.find(([one]) => one === number),
          tail = above >= TAIL;
        return make(
          "button",
          {
            type: "button",
            class: tail ? "is-tail" : null,
            style: "--w:" + (p / EACH).toFixed(3),
            title: percent(p / EACH) + (tail ? ", from the tail" : ""),
            "aria-pressed": String(at === state.at),
            tabindex: at === state.at ? 0 : -1,
            onclick: () => {
              kept({ at });
              show();
            },
          },
          seen(number),
        );
      }

      function alternatives(steps) {
        const [chosen, , count, ...rows] = steps[state.at],
          before = steps.slice(Math.max(0, state.at - BEFORE), state.at).map(([one]) => seen(one));
        return LIVE.bars(
          "After “… " + [...(state.at < BEFORE ? ["Then"] : []), ...before].join(" ") + "”: probability for the model → under the rule",
          rows.map(([one, p, q]) => [
            seen(one) + (one === chosen ? " (written)" : ""),
            p / EACH,
            percent(p / EACH) + " → " + (q ? percent(q / EACH) : one === chosen ? "under 0.1 %" : "0 %"),
          ]),
        ).appendChild(make("p", { class: "live-note" }, "The rule can write " + counted(count, "token") + " here.")).parentNode;
      }

      function show() {
        const steps = story(),
          now = steps.slice(0, state.written),
          { repeated, tail } = LIVE.countsOf(now);
        refill(
          page,
          make("p", { class: "live-head" }, "“" + beginning + " …”"),
          oneStop(
            make(
              "p",
              { class: "live-story" },
              now.map((step, at) => token(step, at)),
            ),
            now.length,
          ),
          buttons(
            ["Next token", () => write(1), null],
            ["Twenty tokens", () => write(20), null],
            ["To the end", () => write(steps.length), null],
            ["From the beginning", () => write(-steps.length), null],
          ),
        );
        refill(bars, alternatives(steps));
        said.say(
          counted(now.length, "token") +
            " of " +
            steps.length +
            " by the rule “" +
            rules[state.rule] +
            "”: " +
            percent(repeated) +
            " of the pairs are repeated, and " +
            counted(tail, "token comes", "tokens come") +
            " from the tail.",
        );
      }

      function write(more) {
        const written = Math.max(1, Math.min(story().length, state.written + more));
        kept({ written, at: written - 1 });
        show();
      }
      function set() {
        refill(
          controls,
          choice(
            "Rule",
            rules.map((rule, i) => [i, rule]),
            state.rule,
            (rule) => {
              kept({ rule });
              set();
            },
          ),
          rules[state.rule] === "greedy"
            ? null
            : choice(
                "Seed",
                [
                  [0, "0"],
                  [1, "1"],
                ],
                state.seed,
                (seed) => {
                  kept({ seed });
                  show();
                },
              ),
        );
        show();
      }
      room.append(controls, page, said.element, bars);
      set();
    },
  });
})(globalThis);
