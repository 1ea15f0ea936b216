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

  // Which inputs each output can depend on after `layers` layers: through the values of allowed cells, and through the position's
  // own vector, which goes into its query and past the attention along the residual connection.
  LIVE.reach = function (mask, size, layers) {
    let reach = Array.from({ length: size }, (_, i) => new Set([i]));
    for (let layer = 0; layer < layers; layer++) {
      reach = reach.map((before, q) => {
        const next = new Set(before);
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
    todo: "Start from “causal” with two layers. In the first grid, press the cell in the row “1 zwei” and the column “5 sieben”, so that one position may attend to one later word. Guess before you press: in how many rows of the second grid will a leak appear? Then set the layers to 1, and compare.",
    learned:
      "With two layers, the one wrong cell makes four of the six positions leak: positions 2 to 4 may attend to position 1, which has read “sieben”, and position 1 also depends on the words between, because position 5 has read them. With one layer, only position 1 leaks. With the right causal mask both grids stay equal however many layers there are, because a word that comes by way of another position could have been read directly. With “window of two” each output reaches one position further back per layer. With “without the diagonal” every output still depends on its own input, although no position may attend to itself: it comes through the query and the residual connection, which the rings mark.",
    about:
      "No network runs here: the figure follows which vectors each layer adds up, with a residual connection around each attention, as in Chapter 9.",
    defaults: { mask: filled(PRESETS.causal), layers: 2 },
    draw(room, state, kept) {
      const said = words(),
        presets = make("div", {}),
        board = make("div", { class: "live-planes" });
      const same = (mask, other) => mask.every((allowed, i) => allowed === other[i]),
        note = (text) => (text ? make("p", { class: "live-before" }, text) : null);
      const names = WORDS.map((word, i) => i + " " + word),
        next = (q) => (q + 1 < N ? "“" + WORDS[q + 1] + "”" : "the end");

      function toggle(q, k) {
        kept({ mask: state.mask.toSpliced(q * N + k, 1, 1 - state.mask[q * N + k]) });
        show();
      }

      function show() {
        const reach = LIVE.reach(state.mask, N, state.layers),
          below = LIVE.reach(state.mask, N, state.layers - 1),
          // what attention brings: all that the vectors depend on which the last layer may read
          brought = WORDS.map((_, q) => new Set(below.flatMap((set, k) => (state.mask[q * N + k] ? [...set] : [])))),
          leaks = reach.map((set, q) => [...set].filter((j) => j > q).sort());
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
            const carried = reach[q].has(k) && !brought[q].has(k);
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
        const leaky = leaks.map((found, q) => [q, found]).filter(([, found]) => found.length);
        const empty = WORDS.map((_, q) => q).filter((q) => !state.mask.slice(q * N, (q + 1) * N).includes(1));
        const carried = reach.flatMap((set, q) => [...set].filter((j) => !brought[q].has(j))).length,
          indirect = brought.flatMap((set, q) => [...set].filter((j) => !state.mask[q * N + j])).length;
        LIVE.refill(
          presets,
          buttons(
            ...Object.entries(PRESETS).map(([name, allowed]) => [
              name,
              () => {
                kept({ mask: filled(allowed) });
                show();
              },
              same(state.mask, filled(allowed)),
            ]),
          ),
        );
        LIVE.refill(
          board,
          make(
            "div",
            {},
            make("p", { class: "live-head" }, "Each layer’s mask: press a cell"),
            mask,
            note(
              empty.length > 0 &&
                (empty.length > 1 ? "Rows " : "Row ") +
                  empty.join(", ") +
                  (empty.length > 1 ? " are" : " is") +
                  " empty: there is nothing to attend to. A softmax over nothing would be 0/0, so attention adds nothing here.",
            ),
          ),
          make(
            "div",
            {},
            make("p", { class: "live-head" }, "What each output depends on"),
            depends,
            note(leaky.length > 0 && "Orange: a leak, that is, a later word."),
            note(
              carried > 0 &&
                "Blue ring: no attention brings this input. It comes through the position’s own query and the residual connection.",
            ),
          ),
        );
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
            (indirect
              ? " Of the filled cells of the second grid, " +
                indirect +
                (indirect > 1 ? " are" : " is") +
                " empty in the first: these inputs come by way of other positions, layer by layer."
              : carried
                ? ""
                : " Both grids are equal: no input comes only by way of another position."),
        );
      }
      room.append(
        presets,
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
