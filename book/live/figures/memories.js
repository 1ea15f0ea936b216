// Pairs of a key and a value in the plane, and what seven memories answer when they are asked for each key.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, buttons, words, softmax, dot, signed, pairs, planeLine } = LIVE;
  const HUES = [214, 28, 148, 330, 265, 190],
    VALUES = [3, 5, 10, 2, 7, 4],
    ANGLES = [150, -60], // of the fifth and the sixth key, in degrees
    FEWEST = 2,
    NEAR = 0.07, // so far from another key a moved one takes its position
    ARROW = 15; // the state is drawn a fifteenth of its length
  const KINDS = [
    ["full", "full cache"],
    ["window", "window of two"],
    ["bits", "two bits"],
    ["sum", "sum"],
    ["fade", "fading sum"],
    ["delta", "delta rule"],
    ["gated", "gated delta rule"],
  ];
  const onCircle = (degrees) => [Math.cos, Math.sin].map((f) => Number(f((degrees * Math.PI) / 180).toFixed(4)));
  const same = (a, b) => a[0] === b[0] && a[1] === b[1];

  // Each number becomes one of four, evenly spaced from the smallest to the largest.
  function inTwoBits(keys) {
    const low = Math.min(...keys.flat()),
      step = (Math.max(...keys.flat()) - low) / 3 || 1;
    return keys.map((key) => key.map((v) => Math.round((v - low) / step) * step + low));
  }
  const attend = (keys, values) => (query) => dot(softmax(Float64Array.from(keys, (key) => 1000 * dot(query, key))), values);
  // The state fades first, to a share "keep" of it. Then a rule with a rate stores this share of the difference from what
  // the key reads; without a rate, the value itself.
  const store = (keys, values, rate, keep) =>
    keys.reduce(
      (before, key, n) => {
        const S = before.map((s) => keep * s),
          more = rate === undefined ? values[n] : rate * (values[n] - dot(S, key));
        return S.map((s, i) => s + more * key[i]);
      },
      [0, 0],
    );
  const CORRECTS = ["delta", "gated"],
    FADES = ["fade", "gated"];

  // What a memory holds of pairs, the oldest first, and what each key reads: { held: keys, or state: two numbers; answers }.
  LIVE.remember = function (kind, keys, values, rate = 1, keep = 0.5) {
    if (kind === "sum" || CORRECTS.includes(kind) || FADES.includes(kind)) {
      const state = store(keys, values, CORRECTS.includes(kind) ? rate : undefined, FADES.includes(kind) ? keep : 1);
      return { state, answers: keys.map((key) => dot(state, key)) };
    }
    const from = kind === "window" ? -2 : 0,
      held = (kind === "bits" ? inTwoBits(keys) : keys).slice(from);
    return { held, answers: keys.map(attend(held, values.slice(from))) };
  };

  LIVE.figure("memories", {
    title: "Four pairs in seven memories",
    todo: "Which memories answer what was stored? Drag the key of 2 onto the key of 10, so that one key is stored twice: which of them answer the newer value, 2, or come near it? Then start again, and drag the keys of 10 and 2 onto the key of 5: what does the fading sum, and what does the delta rule still answer to the oldest key, to which they are at right angles?",
    learned:
      "The window has only the two newest pairs, and two bits confuse keys that lie near each other. The sum is right only while all keys stand at right angles. When 10 and then 2 are stored under one key, the delta rule and the gated delta rule answer 2. The full cache answers 6, the mean, because both keys have the same score, and the sum adds both values and a share of the others. With 10 and 2 on the key of 5, the oldest key reads 3 with the delta rule, because none of the later keys is similar to it, and 0.38 with the fading sum, which loses half of everything at each step. So the delta rule forgets what later, similar keys overwrite, and a fading sum forgets by age.",
    about:
      "The memories of this chapter: nothing is trained. All keys have length 1. The dashed line is the state of a sum, fading or delta rule, drawn a fifteenth of its length.",
    defaults: { keys: [1, 0, 0, 1, 0.6, 0.8, 0.8, 0.6], values: [3, 5, 10, 2], memory: "delta", beta: 1, alpha: 0.5 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" }),
        left = make("div", {});
      let plane;

      // A key stays on the circle; near another key, it takes that key's position, unless it is on its way out.
      function moved(number, at) {
        const keys = pairs(state.keys),
          before = keys[number],
          far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]),
          next = onCircle((Math.atan2(at[1], at[0]) * 180) / Math.PI);
        const other = keys.find((key, n) => n !== number && far(key, next) < NEAR && far(key, next) < far(key, before));
        kept({ keys: state.keys.toSpliced(2 * number, 2, ...(other || next)) });
        show();
      }

      function build() {
        plane = LIVE.plane({
          label: "The keys, each with its value",
          range: 1.4,
          moved,
          points: pairs(state.keys).map((at, n) => ({
            name: String(state.values[n]),
            spoken: "key of " + state.values[n],
            at,
            kind: "key",
            hue: HUES[VALUES.indexOf(state.values[n])],
          })),
        });
        refill(left, plane.element);
        show();
      }

      function show() {
        const keys = pairs(state.keys),
          { values } = state,
          { held, state: sum, answers } = LIVE.remember(state.memory, keys, values, state.beta, state.alpha),
          hue = (n) => HUES[VALUES.indexOf(values[n])];
        const first = keys.length - (held || keys).length,
          right = (given) => given.map((answer, n) => Math.abs(answer - values[n]) < 0.05);
        keys.forEach((at, n) =>
          plane.show(n, {
            at,
            radius: n < first || sum ? 7 : 11,
            words: "at " + at.map((v) => signed(v)).join(", ") + ", reads " + signed(answers[n]),
          }),
        );
        const line = (to, look) => planeLine(plane, [0, 0], to, look);
        plane.under.replaceChildren(
          make("circle", { r: plane.xy([1, 0])[0], fill: "none", stroke: "currentColor", "stroke-opacity": 0.3 }),
          ...(held || []).map((at, n) => line(at, { style: "stroke:hsl(" + hue(first + n) + " 70% 48%);stroke-width:4" })),
          ...(sum
            ? [
                line(
                  sum.map((v) => v / ARROW),
                  { class: "pull", "stroke-width": 4 },
                ),
              ]
            : []),
        );
        const cell = (name, text) => make(name, name === "th" ? { scope: "col" } : {}, text);
        const row = ([kind, name]) => {
          const given = LIVE.remember(kind, keys, values, state.beta, state.alpha).answers,
            ticks = right(given);
          const cells = given.map((answer, n) => cell("td", signed(answer) + (ticks[n] ? "\u00a0✓" : "")));
          return make("tr", kind === state.memory ? { class: "is-now" } : {}, make("th", { scope: "row" }, name), cells);
        };
        const heads = ["oldest first", ...values].map((value) => cell("th", String(value)));
        board.replaceChildren(make("thead", {}, make("tr", {}, heads)), make("tbody", {}, KINDS.map(row)));
        const again = keys.flatMap((key, n) => keys.flatMap((later, m) => (m > n && same(key, later) ? [[n, m]] : [])))[0];
        said.say(
          KINDS.find(([kind]) => kind === state.memory)[1] +
            ": " +
            right(answers).filter(Boolean).length +
            " of " +
            keys.length +
            " keys read their own value." +
            (sum ? " The state is (" + sum.map((v) => signed(v)).join(", ") + ")." : "") +
            (again
              ? " One key is stored twice, first with " +
                values[again[0]] +
                ", then with " +
                values[again[1]] +
                ": it reads " +
                signed(answers[again[1]]) +
                "."
              : ""),
        );
      }

      const change = (keys, values) => {
        kept({ keys: keys.flat(), values });
        build();
      };
      // each value has its own colour, so no value comes twice
      const more = () => {
        const value = VALUES.find((one) => !state.values.includes(one));
        if (value) {
          change([...pairs(state.keys), onCircle(ANGLES[Math.max(0, state.values.length - 4)])], [...state.values, value]);
        }
      };
      const fewer = () => state.values.length > FEWEST && change(pairs(state.keys).slice(0, -1), state.values.slice(0, -1));
      const turn = ([first, ...others]) => [...others, first];
      const shown = (n) => n.toFixed(1);
      const share = (name, key) =>
        slider(name, { from: 0.1, to: 1, step: 0.1, value: state[key], shown }, (value) => {
          kept({ [key]: value });
          show();
        });
      room.append(
        choice("Drawn in the plane", KINDS, state.memory, (memory) => {
          kept({ memory });
          show();
        }),
        share("α, how much of the state is kept (fading sum, gated delta rule)", "alpha"),
        share("β, how much of the difference is stored (delta rules)", "beta"),
        make(
          "div",
          { class: "live-view live-view-even" },
          left,
          make(
            "div",
            {},
            buttons(
              ["oldest pair becomes the newest", () => change(turn(pairs(state.keys)), turn(state.values))],
              ["one more pair", more],
              ["one fewer", fewer],
            ),
            make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "What each memory answers" }, board),
            said.element,
          ),
        ),
      );
      build();
    },
  });
})(globalThis);
