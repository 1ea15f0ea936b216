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
    ROOM = 1.3, // how long the drawn state may be, where a key has length 1
    SHORTER = [5, 10, 25]; // the state is drawn at the first of these parts of its length that fits
  // as the chapter's code prints them, and what the circle shows of them
  const KINDS = [
    ["full", "full cache", "It keeps the keys with a thick line: all of them, exactly."],
    ["window", "window", "It keeps the keys with a thick line: only the two newest."],
    [
      "bits",
      "2 bits",
      "Thick lines are the rounded keys that it keeps, thin ones lead there from the keys. Two colours in one line: two keys became one.",
    ],
    ["sum", "sum"],
    ["fade", "fading"],
    ["delta", "delta"],
    ["gated", "gated"],
  ];
  // The chapter's keys, with those of 10 and 2 moved.
  const START = { keys: [1, 0, 0, 1, 0.6, 0.8, 0.8, 0.6], values: [3, 5, 10, 2] },
    TWICE = [1, 0, 0, 1, 0.6, 0.8, 0.6, 0.8],
    THRICE = [1, 0, 0, 1, 0, 1, 0, 1];
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
    todo: "Store one key twice. Drag the key of 2 onto the key of 10. Before you look at the table, guess: which of the seven memories answer the newer value, 2?",
    learned:
      "The window has only the two newest pairs, and two bits confuse keys that lie near each other. The sum is right only while all keys stand at right angles. When 10 and then 2 are stored under one key, the window and two bits answer 6, as does the full cache: the mean, because both keys have the same score. The sum adds both values and a share of the others. Only the delta rule and the gated delta rule answer 2. With 10 and 2 on the key of 5, the oldest key reads 3 with the delta rule, because none of the later keys is similar to it, and 0.38 with the fading sum, which loses half of everything at each step. So the delta rule forgets what later, similar keys overwrite, and a fading sum forgets by age.",
    about: "The memories of this chapter: nothing is trained. All keys have length 1.",
    defaults: { ...START, memory: "delta", beta: 1, alpha: 0.5 },
    draw(room, state, kept) {
      const said = words(),
        board = make("table", { class: "live-table" }),
        task = make("p", {}),
        presets = make("div", {}),
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
        const shorter = sum && (SHORTER.find((part) => Math.hypot(...sum) / part <= ROOM) || SHORTER.at(-1)),
          small = (n) => n < first || sum || state.memory === "bits";
        keys.forEach((at, n) =>
          plane.show(n, {
            at,
            radius: small(n) ? 7 : 11,
            words: "at " + at.map((v) => signed(v)).join(", ") + ", reads " + signed(answers[n]),
          }),
        );
        const line = (to, style, from = [0, 0]) => planeLine(plane, from, to, { style }),
          colour = (n) => "hsl(" + hue(n) + " 70% 48%)";
        // Kept keys that lie on each other take turns along one line; a thin line leads from each dot to its rounded key.
        const keptLine = (at, n) => {
          const pile = held.flatMap((other, m) => (same(at, other) ? [m] : [])),
            dashes = "stroke-dasharray:9 " + 9 * (pile.length - 1) + ";stroke-dashoffset:" + -9 * pile.indexOf(n);
          return [
            line(at, "stroke:" + colour(first + n) + ";stroke-width:5;" + (pile.length > 1 ? dashes : "")),
            line(at, "stroke:" + colour(first + n) + ";stroke-width:1.5", keys[first + n]),
          ];
        };
        const [x, y] = sum ? plane.xy(sum.map((v) => v / shorter)) : [];
        plane.under.replaceChildren(
          make("circle", { r: plane.xy([1, 0])[0], fill: "none", stroke: "currentColor", "stroke-opacity": 0.3 }),
          ...(held || []).flatMap(keptLine),
          ...(sum
            ? [
                make("line", { x1: 0, y1: 0, x2: x, y2: y, style: "stroke:var(--pa-orange);stroke-width:4" }),
                make("circle", { cx: x, cy: y, r: 6, style: "fill:var(--pa-orange)" }),
              ]
            : []),
        );
        const cell = (name, text) => make(name, name === "th" ? { scope: "col" } : {}, text);
        const last = keys.map((key) => keys.findLastIndex((later) => same(key, later))), // the newest pair of each key
          mark = (n, ticked) => (last[n] > n ? "" : "\u202f" + (ticked ? "✓" : "✗")); // an old value is neither right nor wrong
        const row = ([kind, name]) => {
          const given = LIVE.remember(kind, keys, values, state.beta, state.alpha).answers,
            ticks = right(given);
          const cells = given.map((answer, n) => cell("td", signed(answer) + mark(n, ticks[n])));
          return make(
            "tr",
            kind === state.memory ? { class: "is-now" } : {},
            make("th", { scope: "row", style: "white-space:nowrap" }, name),
            cells,
          );
        };
        const heads = ["oldest first", ...values].map((value) => cell("th", String(value)));
        board.replaceChildren(make("thead", {}, make("tr", {}, heads)), make("tbody", {}, KINDS.map(row)));
        const again = [...last.entries()].find(([n, m]) => m > n);
        const [, name, drawn] = KINDS.find(([kind]) => kind === state.memory);
        const pile = again ? values.filter((_, n) => last[n] === again[1]) : [], // under the first key that is stored twice
          newest = pile.at(-1);
        said.say(
          name +
            ": " +
            right(answers).filter((ticked, n) => ticked && last[n] === n).length +
            " of " +
            new Set(last).size +
            " keys read their newest value. " +
            (drawn ||
              "The orange line is the state (" + sum.map((v) => signed(v)).join(", ") + "), drawn at 1/" + shorter + " of its length.") +
            (again ? " The key of " + pile.slice(0, -1).join(", ") + " and " + newest + " reads " + signed(answers[again[1]]) + "." : ""),
        );
        const at = (wanted) => String(values) === String(START.values) && String(state.keys) === String(wanted);
        task.textContent = at(THRICE)
          ? "5, 10 and now 2 are stored under one key. Which rows still answer 3 for the oldest key, at right angles to it?"
          : again
            ? "One key is stored with " + pile.join(", then with ") + ". Which rows of the table answer the newest, " + newest + "?"
            : "No key is stored twice.";
        const set = (places) => () => change(pairs(places), START.values);
        refill(presets, buttons(["2 onto 10", set(TWICE), at(TWICE)], ["10 and 2 onto 5", set(THRICE), at(THRICE)]));
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
        make(
          "div",
          { class: "live-view live-view-even" },
          left,
          make(
            "div",
            {},
            task,
            presets,
            choice("Drawn in the circle", KINDS, state.memory, (memory) => {
              kept({ memory });
              show();
            }),
            said.element,
          ),
        ),
        make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "What each memory answers" }, board),
        buttons(
          ["oldest pair becomes the newest", () => change(turn(pairs(state.keys)), turn(state.values))],
          ["one more pair", more],
          ["one fewer", fewer],
        ),
        share("α, how much of the state is kept (fading, gated)", "alpha"),
        share("β, how much of what is missing is stored (delta, gated)", "beta"),
      );
      build();
    },
  });
})(globalThis);
