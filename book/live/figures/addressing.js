// The four steps of a neural Turing machine's addressing on eight rows, with every number in the reader's hands.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, words, percent, spread } = LIVE;
  const ROWS = [
    [1, 0],
    [0.9, 0.3],
    [0.5, 0.8],
    [0, 1],
    [-0.4, 0.9],
    [-1, 0.1],
    [-0.3, -0.9],
    [0.6, -0.8],
  ];
  const DEFAULTS = { row: 3, beta: 5, gate: 1, shift: 0, blur: 0, gamma: 1, previous: 0 };
  const EXAMPLES = {
    "find by content": { beta: 12, gate: 1, shift: 0, blur: 0 },
    "go on to the next row": { gate: 0, shift: 1, blur: 0, gamma: 1 },
    "find, then one further": { beta: 12, gate: 1, shift: 1, blur: 0 },
    "blurred shift": { gate: 0, shift: 1, blur: 0.4, gamma: 1 },
    "blurred, then sharpened": { gate: 0, shift: 1, blur: 0.4, gamma: 8 },
  };

  // Shift weights as address() wants them, for −1, 0, +1: `shift` in the middle, `blur` of it spread to the neighbours.
  const shifts = ({ shift, blur }) => {
    const weights = [-1, 0, 1].map((by) => (by === shift ? 1 - blur : blur / 2));
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((w) => w / sum);
  };

  LIVE.figure("addressing", {
    title: "Addressing with content, gate, shift and sharpening",
    todo: "Set the gate to 0 and the shift to +1, and press “one more step” several times: the head walks. Then add some blur to the shift. Which number brings the head back to one row?",
    learned:
      "With the gate at 1 the head goes where the content is similar to the key; with the gate at 0 it starts from where it was, so the shift alone moves it, row by row, and from the last row to the first. A shift that isn't quite certain spreads the weights a little more at every step; sharpening (γ) undoes this. Without it a machine loses its row after some steps.",
    about: "The book's addressing (Graves et al. 2014, figure 2) on eight rows of two numbers, chosen by hand.",
    defaults: DEFAULTS,
    draw(room, state, kept) {
      const said = words(),
        stages = make("div", { class: "live-stages" }),
        sliders = {};
      let previous = ROWS.map((_, i) => (i === state.previous ? 1 : 0));
      const found = () =>
        LIVE.address(
          { key: Float32Array.from(ROWS[state.row]), beta: state.beta, gate: state.gate, shift: shifts(state), gamma: state.gamma },
          previous,
          ROWS.map((row) => Float32Array.from(row)),
        );
      const peak = (weights) => "row " + weights.indexOf(Math.max(...weights)) + " (" + percent(Math.max(...weights)) + ")";

      function show() {
        const now = found(),
          column = (title, weights) =>
            LIVE.bars(
              title,
              Array.from(weights, (w, i) => ["row " + i, w, percent(w)]),
            );
        stages.replaceChildren(
          column("before", previous),
          column("1 content, β", now.content),
          column("2 gate, g", now.gated),
          column("3 shift, s", now.moved),
          column("4 sharpen, γ", now.weights),
        );
        const weights = Array.from(now.weights);
        said.say(
          "The head was at " +
            peak(previous) +
            ". The content points to " +
            peak(Array.from(now.content)) +
            ". The head is now at " +
            peak(weights) +
            ", and its weights are as spread as " +
            spread(weights).toFixed(1) +
            " equal ones.",
        );
      }
      function set(changes) {
        kept(changes);
        Object.entries(changes).forEach(([key, value]) => sliders[key] && sliders[key].set(value));
        show();
      }
      const one = (key, name, limits) => (sliders[key] = slider(name, { ...limits, value: state[key] }, (value) => set({ [key]: value })));
      const fixed = (n) => n.toFixed(2);
      room.append(
        buttons(...Object.entries(EXAMPLES).map(([name, changes]) => [name, () => set({ ...changes })])),
        one("row", "Key: equal to row", { from: 0, to: 7, step: 1 }),
        one("beta", "β, sharpness of the content", { from: 0, to: 30, step: 0.5 }),
        one("gate", "g, gate (0: from where the head was, 1: from the content)", { from: 0, to: 1, step: 0.05, shown: fixed }),
        one("shift", "s, shift", { from: -1, to: 1, step: 1, shown: (n) => (n > 0 ? "+" : "") + String(n).replace("-", "−") }),
        one("blur", "uncertainty of the shift", { from: 0, to: 0.66, step: 0.02, shown: fixed }),
        one("gamma", "γ, sharpening", { from: 1, to: 15, step: 0.5 }),
        buttons(
          [
            "one more step",
            () => {
              previous = Array.from(found().weights);
              show();
            },
          ],
          [
            "back to row 0",
            () => {
              previous = ROWS.map((_, i) => (i ? 0 : 1));
              show();
            },
          ],
        ),
        stages,
        said.element,
      );
      show();
    },
  });
})(globalThis);
