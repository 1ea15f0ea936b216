// The four steps of a neural Turing machine's addressing on eight rows, with every number in the reader's hands.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, words, percent, signed, spread } = LIVE;
  const FEATURES = 3,
    ONLY = (row) => Array.from({ length: 8 }, (_, i) => (i === row ? 1 : 0)),
    DIGITS = 6; // of the weights that a link keeps
  // The example of chapter 13: memory, key (1, 0, 1) of row 4, the head before on row 7.
  const DEFAULTS = {
    memory: [1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0],
    previous: ONLY(7),
    row: 4,
    beta: 10,
    gate: 0.75,
    shift: 0.9,
    blur: 0,
    gamma: 3,
    steps: 0,
  };
  const EXAMPLES = {
    "the chapter's example": DEFAULTS,
    "by content alone": { beta: 30, gate: 1, shift: 0, blur: 0, gamma: 1 },
    "by shift alone": { gate: 0, shift: 1, blur: 0, gamma: 1, previous: ONLY(0) },
    "stay, with leaks": { gate: 0, shift: 0, blur: 0.15, gamma: 1, previous: ONLY(0) },
    "stay, leaks sharpened": { gate: 0, shift: 0, blur: 0.15, gamma: 3, previous: ONLY(0) },
  };

  // Probabilities of moving by −1, 0, +1: `shift` is divided between its two whole neighbours, and of all of it the part `blur`
  // is spread evenly.
  LIVE.shiftWeights = ({ shift, blur }) => [-1, 0, 1].map((by) => (1 - blur) * Math.max(0, 1 - Math.abs(by - shift)) + blur / 3);

  // The four steps of a state of this figure.
  LIVE.addressed = function (state) {
    const memory = Array.from({ length: state.previous.length }, (_, n) =>
      Float32Array.from(state.memory.slice(FEATURES * n, FEATURES * (n + 1))),
    );
    const { row, beta, gate, gamma } = state;
    return LIVE.address({ key: memory[row], beta, gate, shift: LIVE.shiftWeights(state), gamma }, state.previous, memory);
  };

  LIVE.figure("addressing", {
    title: "Addressing with content, gate, shift and sharpening",
    todo: "Change one number of the example at a time: which step does it change? Then press “stay, with leaks”, take twenty steps, and look at row 0. Which slider keeps the head on its row?",
    learned:
      "With g = 1 the head goes to the rows that resemble the key, and β says how sharply. With g = 0 it starts from where it was, so that the shift alone moves it, from the last row on to the first. A shift that isn't quite certain spreads the weights at every step: after twenty steps row 0 keeps 30 % of the weight. Sharpening (γ = 3) undoes this, and row 0 keeps nearly everything.",
    about:
      "The four steps of Chapter 13 (Graves et al. 2014, figure 2), at the start with its example: eight rows of three numbers, the key (1, 0, 1), g = 0.75, s = (0, 0.1, 0.9) and γ = 3.",
    defaults: DEFAULTS,
    draw(room, state, kept) {
      const said = words(),
        stages = make("div", { class: "live-stages" }),
        sliders = {};
      const peak = (weights) => {
        const most = Math.max(...weights),
          row = most - Math.min(...weights) < 1e-6 ? "no row more than another" : "row " + weights.indexOf(most);
        return row + " (" + percent(most) + ")";
      };

      function show() {
        const now = LIVE.addressed(state);
        const column = (title, weights, name = (i) => "row " + i) =>
          LIVE.bars(
            title,
            Array.from(weights, (w, i) => [name(i), w, percent(w)]),
          );
        const contents = (i) => i + ": " + state.memory.slice(FEATURES * i, FEATURES * (i + 1)).join(" ");
        stages.replaceChildren(
          column("before", state.previous, contents),
          column("1 content, β", now.content),
          column("2 gate, g", now.gated),
          column("3 shift, s", now.moved),
          column("4 sharpen, γ", now.weights),
        );
        const [content, moved, weights] = [now.content, now.moved, now.weights].map((list) => Array.from(list));
        said.say(
          (state.steps ? "After " + state.steps + (state.steps === 1 ? " step" : " steps") + " the head was at " : "The head was at ") +
            peak(state.previous) +
            ". The content points to " +
            peak(content) +
            ". After the shift with s = (" +
            shifts() +
            ") the head is at " +
            peak(moved) +
            ", after sharpening at " +
            peak(weights) +
            "; its weights are spread as widely as equal weights on " +
            spread(weights).toFixed(1) +
            " rows.",
        );
      }
      function set(changes) {
        kept(changes);
        Object.entries(changes).forEach(([key, value]) => sliders[key] && sliders[key].set(value));
        show();
      }
      const one = (key, name, limits) => (sliders[key] = slider(name, { ...limits, value: state[key] }, (value) => set({ [key]: value })));
      const fixed = (n) => n.toFixed(2);
      const shifts = () =>
        LIVE.shiftWeights(state)
          .map((w) => String(Math.round(100 * w) / 100))
          .join(", ");
      const go = (count) => () => {
        for (let i = 0; i < count; i++) {
          const previous = Array.from(LIVE.addressed(state).weights, (w) => Number(w.toFixed(DIGITS)));
          kept({ previous, steps: state.steps + 1 });
        }
        show();
      };
      room.append(
        buttons(...Object.entries(EXAMPLES).map(([name, changes]) => [name, () => set({ ...structuredClone(changes), steps: 0 })])),
        one("row", "Key: equal to row", { from: 0, to: 7, step: 1 }),
        one("beta", "β, sharpness of the content", { from: 0, to: 30, step: 0.5 }),
        one("gate", "g, gate (0: from where the head was, 1: from the content)", { from: 0, to: 1, step: 0.05, shown: fixed }),
        one("shift", "s, shift", { from: -1, to: 1, step: 0.1, shown: (n) => (n > 0 ? "+" : "") + signed(n, 1) }),
        one("blur", "uncertainty of the shift", { from: 0, to: 0.9, step: 0.05, shown: fixed }),
        one("gamma", "γ, sharpening", { from: 1, to: 15, step: 0.5 }),
        buttons(
          ["one more step", go(1)],
          ["twenty more steps", go(20)],
          ["put the head on row 0", () => set({ previous: ONLY(0), steps: 0 })],
        ),
        stages,
        said.element,
      );
      show();
    },
  });
})(globalThis);
