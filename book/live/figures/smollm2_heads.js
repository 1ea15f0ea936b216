// The weights of all 270 heads of SmolLM2 on a few sentences: first positions, previous words, induction.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, choice, slider, buttons, words, percent, largest } = LIVE;
  const CELL = 22, // pixels of a head in the overview
    NARROW = "font-size:0.75rem;padding-right:0.2rem"; // column heads, beside the lines

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
      "what followed the same token before",
      (row, q, pieces) => pieces.slice(0, q).reduce((sum, other, k) => sum + (same(other, pieces[q]) ? row[k + 1] : 0), 0),
    ],
  };
  const NAMES = ["First position", "Position before", "Induction"]; // on buttons and above columns
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
    todo: "Each square is a head: the darker, the more of its attention it gives to one kind of position. Guess first: how many of the 270 heads give more than half to the first position? Then press each kind. The figure goes to its strongest head, and brown lines show what the marked token attends to. Then choose another sentence: is this head still of the same kind (table)?",
    learned:
      "In the second sentence, over the positions 9 to 14, 132 of the 270 heads give more than half of their attention to the first position, whatever stands there, as an attention sink. Only 8 give it to the position before, and 5, all in the layers 18 and 19, to what followed the same token before: at “letter” they attend to “music”, so that a text can be copied. In the first and third sentence it is 83 and 87, 4 and 5, and one head each: the same four heads attend to the position before in all three, and induction is weaker where less is repeated.",
    about:
      "Stored attention weights of SmolLM2-135M-Instruct (Chapter 19) on three sentences, 30 layers of nine heads, eight bits per weight; the model itself doesn't run in this page.",
    // `task` of the placement: Chapter 19 asks about two heads, and not about the three kinds.
    says: ({ task }) =>
      task === "finder"
        ? {
            todo: "Each square is a head: the darker, the more of its attention it gives to one kind of position. The framed one is a finder, 19.7: from the marked, second “letter” it attends to “music”, as from ark to stein in the text. Guess what 17.1 attends to from there, then choose it (layer 17, head 1).",
            learned:
              "From the second “letter”, 17.1 gives 96 % of its attention to “window”, the token before, and 19.7 gives 95 % to “music”, which followed the first “letter”. Whether 19.7 uses what 17.1 writes can’t be seen here. In all three sentences 17.1 gives most to the position before. But 19.7 gives 90 % to what followed the same token only in the second sentence, where a whole list comes twice. In the third, where no two neighbours come twice in this order, it has 7.1 %, and the first position receives 91 %.",
          }
        : {},
    button: "Show the 270 heads",
    packs: ["smollm2_heads"],
    defaults: { sentence: 2, layer: 19, head: 9, query: 10, kind: "", task: "kinds" }, // counted from 1, as on the pages; no kind: that of the head
    draw(room, state, kept, pack) {
      const said = words(),
        board = make("div", {}),
        shares = make("div", {}),
        counted = make("p", { class: "live-head" }),
        overview = make("canvas", {
          class: "live-overview",
          style: "display:block;min-width:0;height:" + 9 * CELL + "px",
          "aria-hidden": "true",
          onclick: pick,
        }),
        grid = make(
          "div",
          { tabindex: 0, role: "application", "aria-label": "Overview of all heads: the arrow keys go from head to head", onkeydown: walk },
          overview,
        ),
        kinds = buttons(...Object.keys(KINDS).map((name, i) => [NAMES[i], () => best(name)])),
        sliders = {};
      const scored = pack.sentences.map((one) => LIVE.mapsOf(one).map((row) => row.map((map) => LIVE.headScores(map, one.pieces))));
      let maps, scores;
      const sentence = () => pack.sentences[state.sentence - 1],
        piece = (text) => text.trim() || "␣";
      const own = scored[state.sentence - 1][state.layer - 1][state.head - 1];
      let kind = state.kind in KINDS ? state.kind : Object.keys(KINDS).reduce((a, b) => (own[b] > own[a] ? b : a));

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
        }
      }
      function go(layer, head) {
        kept({ layer, head, kind }); // a link keeps the kind that a page derived from its first head
        sliders.layer.set(layer);
        sliders.head.set(head);
        paint();
        show();
      }

      // All heads, each as dark as its share of the kind; the chosen one has a frame. How many give more than half is told above.
      function paint() {
        const { layers, heads } = sentence();
        Object.assign(overview, { width: layers * CELL, height: heads * CELL });
        const pen = overview.getContext("2d");
        pen.fillStyle = "rgb(44,104,184)";
        scores.forEach((row, layer) =>
          row.forEach((share, head) => {
            pen.globalAlpha = 0.06 + 0.94 * Math.min(1, share[kind]);
            pen.fillRect(layer * CELL + 1, head * CELL + 1, CELL - 2, CELL - 2);
          }),
        );
        pen.globalAlpha = 1;
        pen.strokeStyle = "rgb(230,126,20)";
        pen.lineWidth = 4;
        pen.strokeRect((state.layer - 1) * CELL + 2, (state.head - 1) * CELL + 2, CELL - 4, CELL - 4);
        Array.from(kinds.children, (button, i) => button.setAttribute("aria-pressed", String(Object.keys(KINDS)[i] === kind)));
        const half = scores.flat().filter((one) => one[kind] > 0.5).length;
        counted.textContent =
          half +
          " of " +
          layers * heads +
          (half === 1 ? " heads gives more than half of its attention to " : " heads give more than half of their attention to ") +
          KINDS[kind][0] +
          ". Press a head to see it below.";
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
        refill(
          board,
          make("p", { class: "live-head" }, "Layer " + layer + ", head " + head),
          make("p", { class: "live-before" }, "Choose on the left which token attends (brown). The pale lines are the other tokens’."),
          links.element,
        );
        links.choose(Math.min(state.query, pieces.length) - 1);
        shares.replaceChildren(
          make("p", { class: "live-head" }, "Attention of head " + layer + "." + head + ", mean over the tokens that come a second time"),
          make(
            "table",
            { class: "live-table" },
            make(
              "thead",
              {},
              make(
                "tr",
                {},
                make("th", { scope: "col", style: NARROW }, "sentence"),
                NAMES.map((name) => make("th", { scope: "col", style: NARROW }, name.toLowerCase())),
              ),
            ),
            make(
              "tbody",
              {},
              scored.map((one, i) =>
                make(
                  "tr",
                  { class: i === state.sentence - 1 ? "is-now" : null },
                  make("th", { scope: "row" }, String(i + 1)),
                  Object.keys(KINDS).map((name) => make("td", {}, percent(one[layer - 1][head - 1][name]))),
                ),
              ),
            ),
          ),
        );
      }

      function best(name) {
        const all = scores.flatMap((row, layer) => row.map((score, head) => [score[name], layer, head]));
        const [, layer, head] = all.reduce((a, b) => (b[0] > a[0] ? b : a));
        kind = name;
        if (name === "induction") {
          kept({ query: 1 + LIVE.repeatedAt(maps[layer][head], sentence().pieces, state.query - 1) });
        }
        go(layer + 1, head + 1);
      }
      function read(number) {
        kept({ sentence: number });
        maps = LIVE.mapsOf(sentence());
        scores = scored[number - 1];
        paint();
        show();
      }
      const one = (key, name, to) =>
        (sliders[key] = slider(name, { from: 1, to, step: 1, value: state[key] }, (value) =>
          go(key === "layer" ? value : state.layer, key === "head" ? value : state.head),
        ));
      // Numbers of layers above the squares, of heads on their left.
      const { layers, heads } = sentence(),
        middle = (number, of) => ((100 * (number - 0.5)) / of).toFixed(2) + "%",
        above = [1, 5, 10, 15, 20, 25, 30].map((layer) =>
          make("span", { style: "position:absolute;left:" + middle(layer, layers) + ";transform:translateX(-50%)" }, String(layer)),
        ),
        beside = [1, 3, 5, 7, 9].map((head) => make("span", { style: "top:" + middle(head, heads) }, String(head)));
      room.append(
        choice(
          "Sentence",
          pack.sentences.map((one, i) => [i + 1, i + 1 + ": " + one.pieces.slice(0, 3).join("").trim() + " …"]),
          state.sentence,
          (number) => {
            kept({ kind });
            read(number);
          },
        ),
        make("p", { class: "live-head" }, "Kind of position"),
        kinds,
        counted,
        make(
          "p",
          { class: "live-before" },
          "Layers 1 to 30 from left to right, heads 1 to 9 from top to bottom; means over the tokens that come a second time:",
        ),
        make(
          "div",
          { class: "live-numbered" },
          make("span", {}),
          make("div", { "aria-hidden": "true", style: "position:relative;height:1.2rem;font-size:0.75rem" }, above),
          make("div", { class: "live-rows", "aria-hidden": "true" }, beside),
          grid,
        ),
        one("layer", "Layer", layers),
        one("head", "Head", heads),
        make("div", { class: "live-view" }, board, make("div", {}, said.element, shares)),
      );
      read(state.sentence);
    },
  });
})(globalThis);
