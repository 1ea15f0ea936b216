// A mask that the reader changes cell by cell, and which inputs each output then depends on after several layers.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, buttons, words } = LIVE;
  const WORDS = ["BOS", "zwei", "und", "vierzig", ",", "sieben"],
    N = WORDS.length;
  const PRESETS = {
    causal: (q, k) => k <= q,
    "everything allowed": () => true,
    "shifted by one too many": (q, k) => k <= q + 1,
    "window of two": (q, k) => k <= q && k > q - 2,
    "without the diagonal": (q, k) => k < q,
  };
  const filled = (allowed) => Array.from({ length: N * N }, (_, i) => Number(allowed(Math.floor(i / N), i % N)));

  // Which inputs each output can depend on after `layers` layers: through the values of allowed cells, and, unless `own` is false,
  // through the position's own vector, which goes into its query and past the attention along the residual connection.
  LIVE.reach = function (mask, size, layers, own = true) {
    let reach = Array.from({ length: size }, (_, i) => new Set([i]));
    for (let layer = 0; layer < layers; layer++) {
      reach = reach.map((before, q) => {
        const next = new Set(own ? before : []);
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
    todo: "The causal mask has no leak. Allow one cell above the diagonal, in row 1 and column 5, and then raise the number of layers to 2: how many positions can now see the word that they should predict or a later one? Then try the other masks with one, two and three layers.",
    learned:
      "With one layer, the cell in row 1 and column 5 lets only position 1 see a later word. With two layers, positions 2 to 4 see it as well, because they may attend to position 1, and position 1 sees the words between, because position 5 has read them: a fault in one cell spreads to four of the six positions. With “window of two” each output reaches one position further back per layer. With “without the diagonal” every output still depends on its own input, although no position may attend to itself: it comes through the query and the residual connection, which the rings mark. Position 0 has no position to attend to at all.",
    about:
      "No network runs here: the figure follows which vectors each layer adds up, with a residual connection around each attention, as in Chapter 9.",
    defaults: { mask: filled(PRESETS.causal), layers: 1 },
    draw(room, state, kept) {
      const said = words(),
        board = make("div", { class: "live-planes" });
      const names = WORDS.map((word, i) => i + " " + word),
        next = (q) => (q + 1 < N ? "“" + WORDS[q + 1] + "”" : "the end");

      function toggle(q, k) {
        kept({ mask: state.mask.toSpliced(q * N + k, 1, 1 - state.mask[q * N + k]) });
        show();
      }

      function show() {
        const reach = LIVE.reach(state.mask, N, state.layers),
          attended = LIVE.reach(state.mask, N, state.layers, false), // through values alone
          leaks = reach.map((set, q) => [...set].filter((j) => j > q));
        const mask = LIVE.grid({
          rows: names,
          columns: names,
          corner: "query",
          over: "key",
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
          over: "input",
          label: "What each output depends on",
          cell: (q, k) => {
            const carried = reach[q].has(k) && !attended[q].has(k);
            return {
              weight: reach[q].has(k) ? 1 : 0,
              mark: (leaks[q].includes(k) ? "is-leak" : "") + (carried ? " is-carried" : ""),
              title:
                "output " +
                names[q] +
                (reach[q].has(k) ? " depends on " : " doesn’t depend on ") +
                "input " +
                names[k] +
                (carried ? ", only through its own query and residual connection" : ""),
            };
          },
        });
        LIVE.refill(
          board,
          make("div", {}, make("p", { class: "live-head" }, "The mask of each layer: press a cell"), mask),
          make(
            "div",
            {},
            make("p", { class: "live-head" }, "Inputs of each output after " + state.layers + (state.layers > 1 ? " layers" : " layer")),
            depends,
            make(
              "p",
              { class: "live-before" },
              "Orange: a leak. Ring: no value brings this input; it comes through the position’s own query and the residual connection.",
            ),
          ),
        );
        const leaky = leaks.map((found, q) => [q, found]).filter(([, found]) => found.length);
        const empty = WORDS.map((_, q) => q).filter((q) => !state.mask.slice(q * N, (q + 1) * N).includes(1));
        const carried = reach.flatMap((set, q) => [...set].filter((j) => !attended[q].has(j))).length;
        said.say(
          (leaky.length
            ? "Leak: " +
              leaky.length +
              " of " +
              N +
              " positions depend on words that they should predict, or on later ones; position " +
              leaky[0][0] +
              ", which should predict " +
              next(leaky[0][0]) +
              ", depends on “" +
              leaky[0][1].map((j) => WORDS[j]).join("”, “") +
              "”."
            : "No leak: each position depends only on itself and earlier inputs.") +
            (carried
              ? " The residual connection alone carries " + carried + (carried > 1 ? " of these dependencies." : " dependency.")
              : "") +
            (empty.length
              ? " Position " +
                empty.join(", ") +
                " may attend to nothing: its weights must be set to zero, or it must be allowed to attend to itself, since a softmax over nothing is 0/0."
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
