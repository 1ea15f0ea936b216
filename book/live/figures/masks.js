// A mask that the reader changes cell by cell, and which inputs each output then depends on after several layers.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, words } = LIVE;
  const WORDS = ["<bos>", "the", "cat", "sat", "on", "the", "mat"],
    N = WORDS.length;
  const PRESETS = {
    causal: (q, k) => k <= q,
    "everything allowed": () => true,
    "shifted by one too many": (q, k) => k <= q + 1,
    "window of two": (q, k) => k <= q && k > q - 2,
    "without the diagonal": (q, k) => k < q,
  };
  const filled = (allowed) => Array.from({ length: N * N }, (_, i) => Number(allowed(Math.floor(i / N), i % N)));

  // Which inputs an output can depend on after `layers` layers: through allowed cells, and through the residual connection.
  LIVE.reach = function (mask, size, layers) {
    let reach = Array.from({ length: size }, (_, i) => new Set([i]));
    for (let layer = 0; layer < layers; layer++) {
      reach = reach.map((own, q) => {
        const next = new Set(own);
        for (let k = 0; k < size; k++) {
          if (mask[q * size + k]) {
            reach[k].forEach((j) => next.add(j));
          }
        }
        return next;
      });
    }
    return reach;
  };

  LIVE.figure("masks", {
    title: "A mask, and what leaks through it",
    todo: "Allow a cell far above the diagonal, such as row 1, column 6, and raise the number of layers: how many positions can now see words that they should predict? Then try the other masks.",
    learned:
      "A single cell above the diagonal lets one position see a later word in one layer. With a second layer every position that may attend to this one sees that word as well, so a fault of one cell spreads to all positions between the two. Each position also keeps its own input, because the residual connection passes it on. Such a model reaches a very low loss in training and fails when it must write. With a window of two, the reach grows by one position per layer. Without the diagonal the first row has no position to attend to at all.",
    about: "Dependencies followed exactly, cell by cell; no weights are needed for this.",
    defaults: { mask: filled(PRESETS.causal), layers: 1 },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", { class: "live-planes" });
      const names = WORDS.map((word, i) => i + " " + word),
        next = (q) => (q + 1 < N ? "“" + WORDS[q + 1] + "”" : "the end");

      function toggle(q, k) {
        kept({ mask: state.mask.toSpliced(q * N + k, 1, 1 - state.mask[q * N + k]) });
        show();
        room.querySelector('[data-cell="' + q + "," + k + '"]').focus();
      }

      function show() {
        const reach = LIVE.reach(state.mask, N, state.layers),
          leaks = reach.map((set, q) => [...set].filter((j) => j > q));
        const mask = LIVE.grid({
          rows: names,
          columns: names,
          corner: "query",
          label: "The mask",
          pressed: toggle,
          cell: (q, k) => ({
            weight: state.mask[q * N + k],
            mark: k > q && state.mask[q * N + k] ? "is-leak" : "",
            title: names[q] + " may attend to " + names[k],
          }),
        });
        const depends = LIVE.grid({
          rows: names,
          columns: names,
          corner: "output",
          label: "What each output depends on",
          cell: (q, k) => ({
            weight: reach[q].has(k) ? 1 : 0,
            mark: leaks[q].includes(k) ? "is-leak" : "",
            title: "output " + names[q] + (reach[q].has(k) ? " depends on " : " doesn’t depend on ") + "input " + names[k],
          }),
        });
        board.replaceChildren(
          make("div", {}, make("p", { class: "live-head" }, "The mask of each layer: press a cell"), mask),
          make(
            "div",
            {},
            make(
              "p",
              { class: "live-head" },
              "Inputs that each output depends on after " + state.layers + (state.layers > 1 ? " layers" : " layer"),
            ),
            depends,
          ),
        );
        const leaky = leaks.map((found, q) => [q, found]).filter(([, found]) => found.length);
        const empty = WORDS.map((_, q) => q).filter((q) => !state.mask.slice(q * N, (q + 1) * N).includes(1));
        said.say(
          (leaky.length
            ? "Leak: " +
              leaky.length +
              " of " +
              N +
              " positions depend on words that they should predict; position " +
              leaky[0][0] +
              ", which should predict " +
              next(leaky[0][0]) +
              ", depends on “" +
              leaky[0][1].map((j) => WORDS[j]).join("”, “") +
              "”."
            : "No leak: each position depends only on itself and earlier inputs.") +
            (empty.length
              ? " Position " +
                empty.join(", ") +
                " may attend to nothing: its weights must be set to zero, since a softmax over nothing is 0/0."
              : ""),
        );
      }
      room.append(
        buttons(
          ...Object.entries(PRESETS).map(([name, allowed]) => [
            name,
            () => {
              kept({ mask: filled(allowed) });
              show();
            },
          ]),
        ),
        slider("Layers", { from: 1, to: 6, step: 1, value: state.layers }, (layers) => {
          kept({ layers });
          show();
        }),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
