// The weights of all 270 heads of SmolLM2 on a few sentences: first positions, previous words, induction.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, slider, buttons, words, percent, largest } = LIVE;
  const CELL = 22; // pixels of a small map in the overview

  // [layer][head][query] -> weights of the keys up to the query, out of the bytes of a pack.
  LIVE.mapsOf = function ({ pieces, layers, heads, weights }) {
    const text = atob(weights),
      T = pieces.length;
    let at = 0;
    return Array.from({ length: layers }, () =>
      Array.from({ length: heads }, () =>
        Array.from({ length: T }, (_, q) => Float32Array.from({ length: q + 1 }, () => text.charCodeAt(at++) / 255)),
      ),
    );
  };

  // How much of a head's attention goes to the first position, to the one before, and to what came after the same piece earlier.
  const SCORES = {
    first: ["the first position", (map) => mean(map.slice(1).map((row) => row[0]))],
    previous: ["the position before", (map) => mean(map.slice(1).map((row, i) => row[i]))],
    induction: [
      "what followed the same piece before",
      (map, pieces) =>
        mean(
          pieces
            .map((piece, q) => [q, pieces.slice(0, q).flatMap((other, k) => (other.trim() === piece.trim() ? [k + 1] : []))])
            .filter(([, after]) => after.length)
            .map(([q, after]) => after.reduce((sum, k) => sum + map[q][k], 0)),
        ),
    ],
  };
  const mean = (numbers) => (numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : 0);
  LIVE.headScores = (map, pieces) => Object.fromEntries(Object.entries(SCORES).map(([name, [, score]]) => [name, score(map, pieces)]));

  LIVE.figure("smollm2_heads", {
    title: "All 270 heads of SmolLM2 on a sentence",
    todo: "Press the three buttons to jump to heads that attend to the first position, to the word before, and to what followed the same word earlier. Then choose heads in the overview yourself: which kind is the most frequent?",
    learned:
      "In two of the three sentences most heads give most of their weight to the first position, whatever stands there: they have nothing to add, and the first position takes what is left. A few heads attend to the word before. In the sentence that repeats its words, a few heads in the middle layers attend to the word that came next the last time; together with the heads before them they can copy a text.",
    about:
      "Stored weights of SmolLM2-135M-Instruct (Chapter 19) on three sentences, 30 layers of nine heads, eight bits per weight; the model itself doesn't run in this page.",
    packs: ["smollm2_heads"],
    defaults: { sentence: 1, layer: 0, head: 0, query: 9 },
    draw(room, state, kept, pack) {
      const said = words(),
        board = make("div", {}),
        overview = make("canvas", {
          class: "live-overview",
          role: "img",
          "aria-label": "Small maps of all heads: one row per head, one column per layer",
          onclick: pick,
        }),
        sliders = {};
      let maps = LIVE.mapsOf(pack.sentences[state.sentence]);
      const sentence = () => pack.sentences[state.sentence],
        piece = (text) => text.trim() || "␣";

      function pick(event) {
        const box = overview.getBoundingClientRect(),
          { layers, heads } = sentence();
        go(
          Math.min(layers - 1, Math.floor(((event.clientX - box.left) / box.width) * layers)),
          Math.min(heads - 1, Math.floor(((event.clientY - box.top) / box.height) * heads)),
        );
      }
      function go(layer, head) {
        kept({ layer, head });
        sliders.layer.set(layer + 1);
        sliders.head.set(head + 1);
        paint();
        show();
      }

      function paint() {
        const { layers, heads, pieces } = sentence(),
          T = pieces.length;
        Object.assign(overview, { width: layers * CELL, height: heads * CELL });
        const pen = overview.getContext("2d"),
          unit = (CELL - 2) / T;
        maps.forEach((row, layer) =>
          row.forEach((map, head) =>
            map.forEach((weights, q) =>
              weights.forEach((w, k) => {
                if (w < 0.02) {
                  return;
                }
                pen.fillStyle = "rgba(64,132,214," + w.toFixed(2) + ")";
                pen.fillRect(layer * CELL + 1 + k * unit, head * CELL + 1 + q * unit, Math.ceil(unit), Math.ceil(unit));
              }),
            ),
          ),
        );
        pen.strokeStyle = "rgb(230,126,20)";
        pen.lineWidth = 3;
        pen.strokeRect(state.layer * CELL + 1, state.head * CELL + 1, CELL - 2, CELL - 2);
      }

      function show() {
        const { pieces } = sentence(),
          map = maps[state.layer][state.head],
          scores = LIVE.headScores(map, pieces);
        const links = LIVE.links({
          queries: pieces.map(piece),
          keys: pieces.map(piece),
          weights: map,
          languages: ["en", "en"],
          chose: (query) => {
            kept({ query });
            const row = Array.from(map[query]);
            said.say(
              "Layer " +
                (state.layer + 1) +
                ", head " +
                (state.head + 1) +
                ": “" +
                piece(pieces[query]) +
                "” attends to " +
                largest(row, 2)
                  .map((k) => "“" + piece(pieces[k]) + "” (position " + k + ") " + percent(row[k]))
                  .join(", ") +
                ". On the whole sentence this head gives " +
                Object.entries(SCORES)
                  .map(([name, [words]]) => percent(scores[name]) + " to " + words)
                  .join(", ") +
                ".",
            );
          },
        });
        board.replaceChildren(
          make("p", { class: "live-head" }, "Layer " + (state.layer + 1) + ", head " + (state.head + 1)),
          links.element,
        );
        links.choose(Math.min(state.query, pieces.length - 1));
      }

      function best(name) {
        const { pieces } = sentence(),
          all = maps.flatMap((row, layer) => row.map((map, head) => [LIVE.headScores(map, pieces)[name], layer, head]));
        const [, layer, head] = all.reduce((a, b) => (b[0] > a[0] ? b : a));
        go(layer, head);
      }
      const read = (number) => {
        kept({ sentence: number, query: 0 });
        maps = LIVE.mapsOf(sentence());
        paint();
        show();
      };
      const one = (key, name, to) =>
        (sliders[key] = slider(name, { from: 1, to, step: 1, value: state[key] + 1 }, (value) =>
          go(key === "layer" ? value - 1 : state.layer, key === "head" ? value - 1 : state.head),
        ));
      room.append(
        choice(
          "Sentence",
          pack.sentences.map((one, i) => [i, one.pieces.join("").slice(0, 24).trim() + " …"]),
          state.sentence,
          read,
        ),
        buttons(["First position", () => best("first")], ["Word before", () => best("previous")], ["Induction", () => best("induction")]),
        make("p", { class: "live-head" }, "All heads: layers from left to right, heads from top to bottom"),
        make("div", { class: "live-scroll", tabindex: 0, role: "region", "aria-label": "Overview of all heads" }, overview),
        one("layer", "Layer", sentence().layers),
        one("head", "Head", sentence().heads),
        make("div", { class: "live-view" }, board, said.element),
      );
      paint();
      show();
    },
  });
})(globalThis);
