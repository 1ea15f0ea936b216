// The four steps of a neural Turing machine's addressing on eight rows, with every number in the reader's hands.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, words, percent } = LIVE;
  const FEATURES = 3,
    ONLY = (row) => Array.from({ length: 8 }, (_, i) => (i === row ? 1 : 0)),
    NAMES = ["0 a", "1 b", "2 c", "3 d", "4 e", "5 f", "6 g", "7"]; // of the rows: number and letter
  // The example of chapter 13: memory, key (1, 0, 1) of row 4, the head before on row 7.
  const DEFAULTS = {
    memory: [1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0],
    previous: ONLY(7),
    row: 4,
    beta: 10,
    gate: 0.75,
    shift: 0.9,
    blur: 0, // without a slider of its own
    gamma: 3,
    count: 1, // steps with the same numbers, the first of them from `previous`
  };
  const EXAMPLES = {
    "the chapter's example": DEFAULTS,
    "search only": { beta: 30, gate: 1, shift: 0, blur: 0, gamma: 1, count: 1 },
    "step on only": { gate: 0, shift: 1, blur: 0, gamma: 1, previous: ONLY(0), count: 1 },
    "wait twenty steps, with a leak": { gate: 0, shift: 0, blur: 0.15, gamma: 1, previous: ONLY(0), count: 20 },
  };

  // Probabilities of moving by −1, 0, +1: `shift` is divided between its two whole neighbours, and of all of it the part `blur`
  // is spread evenly.
  LIVE.shiftWeights = ({ shift, blur }) => [-1, 0, 1].map((by) => (1 - blur) * Math.max(0, 1 - Math.abs(by - shift)) + blur / 3);

  // The four steps of a state of this figure, in the last of its time steps, and the weights before it.
  LIVE.addressed = function (state) {
    const memory = Array.from({ length: state.previous.length }, (_, n) =>
      Float32Array.from(state.memory.slice(FEATURES * n, FEATURES * (n + 1))),
    );
    const { row, beta, gate, gamma } = state,
      told = { key: memory[row], beta, gate, shift: LIVE.shiftWeights(state), gamma };
    let before = state.previous,
      now = LIVE.address(told, before, memory);
    for (let step = 1; step < state.count; step++) {
      before = now.weights;
      now = LIVE.address(told, before, memory);
    }
    return { before, ...now };
  };

  LIVE.figure("addressing", {
    title: "Addressing with content, gate, shift and sharpening",
    todo: "Move the gate g down to 0: which columns change, and where does the head go now? Then press “wait twenty steps, with a leak”, and look at row 0: which slider keeps the head there?",
    learned:
      "With g = 0 the search does not count: the head steps on from row 7, the last one, to row 0. (With g = 1 only the search counts.) With the leak, s = (0.05, 0.9, 0.05): at every time step a tenth of each weight moves to the two rows beside it, and after twenty row 0 keeps 30 %. Sharpening with γ = 3 undoes this at every step, and row 0 keeps nearly everything.",
    about:
      "The four steps of Chapter 13 (Graves et al. 2014, figure 2), at the start with its example: eight rows of three numbers, the key e = (1, 0, 1), g = 0.75, s = (0, 0.1, 0.9) and γ = 3.",
    defaults: DEFAULTS,
    draw(room, state, kept) {
      const said = words(),
        examples = make("div", {}),
        stages = make("div", { class: "live-stages" }),
        sliders = {};
      const peak = (weights) => {
        const most = Math.max(...weights),
          row = most - Math.min(...weights) < 1e-6 ? "no row more than another" : "row " + NAMES[weights.indexOf(most)].replace(" ", ", ");
        return row + " (" + percent(most) + ")";
      };
      const shows = (changes) => Object.entries(changes).every(([key, value]) => String(state[key]) === String(value));

      function show() {
        const now = LIVE.addressed(state),
          unused = state.gate === 0;
        // Two lines above each column: its step's number and name.
        const column = (number, title, weights, name = (i) => NAMES[i]) =>
          LIVE.bars(
            make("div", {}, number, make("br"), title),
            Array.from(weights, (w, i) => [name(i), w, percent(w)]),
          );
        const contents = (i) => NAMES[i] + ": " + state.memory.slice(FEATURES * i, FEATURES * (i + 1)).join(" ");
        const search = column("1", "content", now.content);
        [search, sliders.row, sliders.beta].forEach((one) => (one.style.opacity = unused ? 0.35 : 1));
        stages.replaceChildren(
          column("", "before", now.before, contents),
          search,
          column("2", "gate", now.gated),
          column("3", "shift", now.moved),
          column("4", "sharpen", now.weights),
        );
        const example = ([name, changes]) => [name, () => set(structuredClone(changes)), shows(changes)];
        LIVE.refill(examples, buttons(...Object.entries(EXAMPLES).map(example)));
        const [before, content, moved, weights] = [now.before, now.content, now.moved, now.weights].map((list) => Array.from(list));
        said.say(
          (state.count > 1 ? "Before time step " + state.count : "Before") +
            ", the largest weight is on " +
            peak(before) +
            ". The search " +
            (unused ? "is not used" : "finds " + peak(content)) +
            ". After the shift with s = (" +
            shifts() +
            ") it is on " +
            peak(moved) +
            ", after sharpening on " +
            peak(weights) +
            ".",
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
      room.append(
        examples,
        one("row", "1 key: what this row holds", { from: 0, to: 7, step: 1, shown: (n) => NAMES[n] }),
        one("beta", "1 key strength β", { from: 0, to: 30, step: 0.5 }),
        one("gate", "2 gate g (0: before, 1: content)", { from: 0, to: 1, step: 0.05, shown: fixed }),
        one("shift", "3 shift s: back, stay, forward", {
          from: -1,
          to: 1,
          step: 0.1,
          shown: () => LIVE.shiftWeights(state).map(fixed).join(", "),
        }),
        one("gamma", "4 power γ", { from: 1, to: 15, step: 0.5 }),
        one("count", "time steps like this", { from: 1, to: 20, step: 1 }),
        stages,
        said.element,
      );
      show();
    },
  });
})(globalThis);
