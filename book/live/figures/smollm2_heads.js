// The weights of all 270 heads of SmolLM2 on a few sentences: first positions, previous words, induction.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, choice, slider, buttons, words, percent, largest } = LIVE;
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

  // The positions whose piece stood in the sentence before: only there induction can be seen, so all means are taken over them.
  LIVE.repeats = (pieces) => pieces.flatMap((piece, q) => (pieces.slice(0, q).some((other) => same(other, piece)) ? [q] : []));
  const same = (a, b) => a.trim() === b.trim();

  // How much of its attention a head gives, at one position, to each kind of position.
  const KINDS = {
    first: ["the first position", (row) => row[0]],
    previous: ["the position before", (row, q) => row[q - 1]],
    induction: [
      "what followed the same piece before",
      (row, q, pieces) => pieces.slice(0, q).reduce((sum, other, k) => sum + (same(other, pieces[q]) ? row[k + 1] : 0), 0),
    ],
  };
  LIVE.headScores = function (map, pieces) {
    const at = LIVE.repeats(pieces),
      mean = (share) => at.reduce((sum, q) => sum + share(map[q], q, pieces), 0) / at.length;
    return Object.fromEntries(Object.entries(KINDS).map(([name, [, share]]) => [name, mean(share)]));
  };

  // Where induction can be seen: the position itself if its piece is repeated there, else the repeated one where it is strongest.
  LIVE.repeatedAt = function (map, pieces, position) {
    const at = LIVE.repeats(pieces),
      [, share] = KINDS.induction,
      strength = (q) => share(map[q], q, pieces);
    return at.includes(position) ? position : at.reduce((best, q) => (strength(q) > strength(best) ? q : best));
  };

  LIVE.figure("smollm2_heads", {
    title: "All 270 heads of SmolLM2 on a sentence",
    todo: "Press the three buttons to jump to the strongest head of each kind, and walk through the words with the arrow keys. The arrow keys also go from head to head in the overview. How many of the 270 heads give more than half of their attention to one kind? Then choose a head, and read the last line: does its kind stay the same in the other sentences?",
    learned:
      "In the second sentence, over the positions 9 to 14, 132 of the 270 heads give more than half of their attention to the first position, whatever stands there, as an attention sink. Only 8 give it to the position before, and 5, all in the layers 18 and 19, to what followed the same piece before: at “letter” they attend to “music”, so that a text can be copied. In the first and third sentence it is 83 and 87, 4 and 5, and one head each: the same four heads attend to the position before in all three, and induction is weaker where less is repeated.",
    about:
      "Stored weights of SmolLM2-135M-Instruct (Chapter 19) on three sentences, 30 layers of nine heads, eight bits per weight; the model itself doesn't run in this page.",
    button: "Show the 270 heads",
    packs: ["smollm2_heads"],
    defaults: { sentence: 2, layer: 19, head: 9, query: 10 }, // all counted from 1, as on the pages
    draw(room, state, kept, pack) {
      const said = words(),
        board = make("div", {}),
        shares = make("div", {}),
        overview = make("canvas", { class: "live-overview", "aria-hidden": "true", onclick: pick }),
        grid = make(
          "div",
          {
            class: "live-scroll",
            tabindex: 0,
            role: "application",
            "aria-label": "Overview of all heads: the arrow keys go from head to head",
            onkeydown: walk,
          },
          overview,
        ),
        sliders = {};
      const everywhere = pack.sentences.map((one) => LIVE.mapsOf(one)),
        scored = everywhere.map((maps, i) => maps.map((row) => row.map((map) => LIVE.headScores(map, pack.sentences[i].pieces))));
      let maps = everywhere[state.sentence - 1],
        scores = scored[state.sentence - 1];
      const sentence = () => pack.sentences[state.sentence - 1],
        piece = (text) => text.trim() || "␣";

      function pick(event) {
        const box = overview.getBoundingClientRect(),
          { layers, heads } = sentence();
        go(
          Math.min(layers, 1 + Math.floor(((event.clientX - box.left) / box.width) * layers)),
          Math.min(heads, 1 + Math.floor(((event.clientY - box.top) / box.height) * heads)),
        );
      }
      // Left and right to another layer, up and down to another head, Home and End to the ends of the row.
      function walk(event) {
        const { layer, head } = state,
          [lastLayer, lastHead] = [sentence().layers, sentence().heads];
        const to = {
          ArrowLeft: [Math.max(1, layer - 1), head],
          ArrowRight: [Math.min(lastLayer, layer + 1), head],
          ArrowUp: [layer, Math.max(1, head - 1)],
          ArrowDown: [layer, Math.min(lastHead, head + 1)],
          Home: [1, head],
          End: [lastLayer, head],
        }[event.key];
        if (to) {
          event.preventDefault();
          go(...to);
          grid.scrollLeft = ((state.layer - 0.5) / lastLayer) * grid.scrollWidth - grid.clientWidth / 2; // keeps it in sight
        }
      }
      function go(layer, head) {
        kept({ layer, head });
        sliders.layer.set(layer);
        sliders.head.set(head);
        paint();
        show();
      }

      // All heads of the sentence, drawn once for each sentence.
      const drawn = new Map();
      function allHeads() {
        if (!drawn.has(state.sentence)) {
          const { layers, heads, pieces } = sentence(),
            unit = (CELL - 2) / pieces.length,
            side = Math.ceil(unit);
          const canvas = make("canvas", { width: layers * CELL, height: heads * CELL }),
            pen = canvas.getContext("2d");
          pen.fillStyle = "rgb(64,132,214)";
          maps.forEach((row, layer) =>
            row.forEach((map, head) =>
              map.forEach((weights, q) =>
                weights.forEach((w, k) => {
                  if (w >= 0.02) {
                    pen.globalAlpha = w;
                    pen.fillRect(layer * CELL + 1 + k * unit, head * CELL + 1 + q * unit, side, side);
                  }
                }),
              ),
            ),
          );
          drawn.set(state.sentence, canvas);
        }
        return drawn.get(state.sentence);
      }

      function paint() {
        const picture = allHeads(),
          { width, height } = picture;
        Object.assign(overview, { width, height });
        const pen = overview.getContext("2d");
        pen.drawImage(picture, 0, 0);
        pen.strokeStyle = "rgb(230,126,20)";
        pen.lineWidth = 3;
        pen.strokeRect((state.layer - 1) * CELL + 1, (state.head - 1) * CELL + 1, CELL - 2, CELL - 2);
      }

      function show() {
        const { pieces } = sentence(),
          { layer, head } = state,
          map = maps[layer - 1][head - 1];
        const links = LIVE.links({
          queries: pieces.map(piece),
          keys: pieces.map(piece),
          weights: map,
          languages: ["en", "en"],
          chose: (query) => {
            kept({ query: query + 1 });
            const row = Array.from(map[query]);
            said.say(
              "Layer " +
                layer +
                ", head " +
                head +
                ": “" +
                piece(pieces[query]) +
                "” attends to " +
                largest(row, 2)
                  .map((k) => "“" + piece(pieces[k]) + "” (position " + (k + 1) + ") " + percent(row[k]))
                  .join(", ") +
                ".",
            );
          },
        });
        refill(board, make("p", { class: "live-head" }, "Layer " + layer + ", head " + head), links.element);
        links.choose(Math.min(state.query, pieces.length) - 1);
        const at = LIVE.repeats(pieces),
          own = scores[layer - 1][head - 1],
          all = scores.flat();
        shares.replaceChildren(
          LIVE.bars(
            "This head, mean over the " +
              at.length +
              " positions whose piece stood in the sentence before (" +
              at.map((q) => q + 1).join(", ") +
              ")",
            Object.entries(KINDS).map(([name, [kind]]) => ["to " + kind, own[name], percent(own[name])]),
          ),
          make(
            "p",
            { class: "live-before" },
            "Heads that give more than half, of " +
              all.length +
              ": " +
              Object.entries(KINDS)
                .map(([name, [kind]]) => all.filter((one) => one[name] > 0.5).length + " to " + kind)
                .join(", ") +
              ".",
          ),
          make(
            "p",
            { class: "live-before" },
            "This head in the sentences 1 to " +
              scored.length +
              ": " +
              Object.entries(KINDS)
                .map(([name, [kind]]) => "to " + kind + " " + scored.map((one) => percent(one[layer - 1][head - 1][name])).join(", "))
                .join("; ") +
              ".",
          ),
        );
      }

      function best(name) {
        const all = scores.flatMap((row, layer) => row.map((score, head) => [score[name], layer, head]));
        const [, layer, head] = all.reduce((a, b) => (b[0] > a[0] ? b : a));
        if (name === "induction") {
          kept({ query: 1 + LIVE.repeatedAt(maps[layer][head], sentence().pieces, state.query - 1) });
        }
        go(layer + 1, head + 1);
      }
      function read(number) {
        kept({ sentence: number });
        maps = everywhere[number - 1];
        scores = scored[number - 1];
        paint();
        show();
      }
      const one = (key, name, to) =>
        (sliders[key] = slider(name, { from: 1, to, step: 1, value: state[key] }, (value) =>
          go(key === "layer" ? value : state.layer, key === "head" ? value : state.head),
        ));
      room.append(
        choice(
          "Sentence",
          pack.sentences.map((one, i) => [i + 1, one.pieces.join("").slice(0, 24).trim() + " …"]),
          state.sentence,
          read,
        ),
        buttons(["First position", () => best("first")], ["Word before", () => best("previous")], ["Induction", () => best("induction")]),
        make(
          "p",
          { class: "live-head" },
          "All heads: layers from left to right, heads from top to bottom; press one, or use the arrow keys",
        ),
        grid,
        one("layer", "Layer", sentence().layers),
        one("head", "Head", sentence().heads),
        make("div", { class: "live-view" }, board, make("div", {}, said.element, shares)),
      );
      read(state.sentence);
    },
  });
})(globalThis);
