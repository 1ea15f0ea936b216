// The reader's German sentence, what the course's Transformer writes, and where each of its 54 heads attends.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, buttons, entry, words, percent, largest, softmax } = LIVE;
  const KINDS = [
    ["cross", "target to source"],
    ["encoder", "within the source"],
    ["self", "within the target"],
  ];
  const EXAMPLES = [
    "Zwei Männer in roten Jacken steigen eine verschneite Treppe hinauf.",
    "Ein Hund läuft durch den Schnee.",
    "Eine Frau mit Hut liest auf einer Bank ein Buch.",
    "Drei Kinder spielen am Strand Fußball, während ein Hund zusieht.",
  ];

  // A piece as it is shown: a piece that continues a word begins with a dash.
  const shown = (piece) => (piece.startsWith("▁") ? piece.slice(1) || "␣" : /^[\p{L}\p{N}]/u.test(piece) ? "‑" + piece : piece);

  // [step][layer][head][key] -> [layer][head][step][key]
  const byHead = (steps) => steps[0].map((heads, layer) => heads.map((_, head) => steps.map((step) => step[layer][head])));

  // All about one sentence: pieces, translation, weights [kind][layer][head][query][key], and the likeliest next pieces.
  LIVE.translation = function (model, source, target, sentence, width) {
    const pieces = source.encode(sentence),
      start = model.start(source.numbers(pieces)),
      written = LIVE.write(model, start, { width });
    let state = start;
    const steps = [LIVE.BOS, ...written.tokens].map((token) => {
      // read again what was written, and keep the weights
      const step = model.step(token, state);
      state = step.state;
      return step;
    });
    const options = steps.map((step) => {
      const chances = softmax(step.logits);
      return largest(chances, 5).map((number) => [number === LIVE.EOS ? "▁(end)" : target.pieces[number], chances[number]]);
    });
    const out = written.tokens.map((token) => target.pieces[token]);
    return {
      source: pieces,
      target: [...out, "▁(end)"],
      read: ["▁(begin)", ...out],
      text: target.decode(out),
      score: written.score,
      options,
      weights: { cross: byHead(steps.map((step) => step.cross)), self: byHead(steps.map((step) => step.self)), encoder: start.encoder },
    };
  };

  const mean = (maps) => maps[0].map((row, q) => row.map((_, k) => maps.reduce((sum, map) => sum + map[q][k], 0) / maps.length));

  LIVE.figure("translator", {
    title: "A translator whose heads can be seen and switched",
    todo: "Choose a written word with the mouse or the arrow keys: which source words does it attend to? Then choose another head, switch it off, and see whether the translation changes.",
    learned:
      "In the last layers most heads of the cross-attention find the words that are translated, even where the order differs between the languages. Heads within the source often attend to a neighbour. Most single heads within a language can be switched off and the translation stays, because others do the same work; of the cross-attention about every second head changes a word. Words that the model has never read are cut into pieces.",
    about:
      "The translator of Chapter 18: 3.7 million numbers (eight bits each here), trained in 49 minutes on one processor core with 29,000 captions of photographs. Other kinds of sentences it translates badly.",
    packs: ["translator"],
    defaults: { sentence: EXAMPLES[0], kind: "cross", layer: 2, head: -1, query: 0, off: "", how: "zero" },
    draw(room, state, kept, pack) {
      const source = LIVE.BytePairs(pack.pieces.source),
        target = LIVE.BytePairs(pack.pieces.target),
        off = new Set(state.off.split("+").filter(Boolean));
      const model = LIVE.Transformer(pack, (kind, layer, head) => (off.has([kind, layer, head].join("_")) ? state.how : undefined)),
        whole = LIVE.Transformer(pack);
      const output = make("p", { class: "live-text", lang: "en" }),
        before = make("p", { class: "live-before" }),
        board = make("div", {}),
        heads = make("div", { class: "live-heads" });
      const options = make("div", {}),
        said = words(),
        switches = make("div", {});
      let found = null;

      const labels = () =>
        state.kind === "cross"
          ? [found.target, found.source]
          : state.kind === "encoder"
            ? [found.source, found.source]
            : [found.target, found.read];
      const map = () =>
        state.head < 0 ? mean(found.weights[state.kind][state.layer]) : found.weights[state.kind][state.layer][state.head];
      const nameOf = (layer, head) => "Layer " + (layer + 1) + ", " + (head < 0 ? "mean of all heads" : "head " + (head + 1));

      function drawHeads() {
        // one row per layer; the first picture of a row is the mean
        heads.replaceChildren(
          ...found.weights[state.kind].flatMap((maps, layer) =>
            [-1, ...maps.keys()].map((head) =>
              make(
                "button",
                {
                  type: "button",
                  class: (head < 0 ? "is-mean" : "") + (off.has([state.kind, layer, head].join("_")) ? " is-off" : ""),
                  "aria-label": nameOf(layer, head) + (off.has([state.kind, layer, head].join("_")) ? ", switched off" : ""),
                  "aria-pressed": String(layer === state.layer && head === state.head),
                  onclick: () => {
                    kept({ layer, head });
                    drawHeads();
                    drawLinks();
                  },
                },
                LIVE.thumbnail(head < 0 ? mean(maps) : maps[head]),
              ),
            ),
          ),
        );
      }

      function chose(query) {
        kept({ query });
        const [queries, keys] = labels(),
          row = Array.from(map()[query]);
        said.say(
          "“" +
            shown(queries[query]) +
            "” attends to " +
            largest(row, 3)
              .map((k) => "“" + shown(keys[k]) + "” " + percent(row[k]))
              .join(", ") +
            ".",
        );
        options.replaceChildren(
          ...(state.kind === "encoder"
            ? []
            : [
                LIVE.bars(
                  "What it could have written here",
                  found.options[query].map(([piece, chance]) => [
                    shown(piece) + (piece === found.target[query] ? " ✓" : ""),
                    chance,
                    percent(chance),
                  ]),
                ),
              ]),
        );
      }

      function drawLinks() {
        const [queries, keys] = labels(),
          languages = { cross: ["en", "de"], encoder: ["de", "de"], self: ["en", "en"] }[state.kind];
        const links = LIVE.links({ queries: queries.map(shown), keys: keys.map(shown), weights: map(), languages, chose });
        board.replaceChildren(make("p", { class: "live-head" }, nameOf(state.layer, state.head)), links.element);
        drawSwitches();
        links.choose(Math.min(state.query, queries.length - 1));
      }

      function drawSwitches() {
        const name = [state.kind, state.layer, state.head].join("_"),
          is = off.has(name);
        const flip = () => {
          if (is) {
            off.delete(name);
          } else {
            off.add(name);
          }
          kept({ off: [...off].join("+") });
          translate();
          switches.querySelector("button").focus();
        };
        const all = () => {
          off.clear();
          kept({ off: "" });
          translate();
        };
        switches.replaceChildren(
          buttons(
            ...(state.head < 0 ? [] : [[is ? "Switch this head on" : "Switch this head off", flip]]),
            ...(off.size ? [["Switch all on (" + off.size + " off)", all]] : []),
          ),
        );
      }

      function translate() {
        const began = performance.now();
        found = LIVE.translation(model, source, target, state.sentence, 5);
        const took = Math.round(performance.now() - began),
          unswitched = off.size ? LIVE.translation(whole, source, target, state.sentence, 5).text : found.text;
        output.textContent = found.text;
        before.textContent = off.size
          ? unswitched === found.text
            ? "The same as with all heads."
            : "With all heads: " + unswitched
          : found.source.length + " pieces read, " + found.target.length + " written with a beam of five in " + took + " ms.";
        drawHeads();
        drawLinks();
      }

      const line = entry(
        "A German sentence about a photograph",
        { value: state.sentence, lang: "de", most: 160, button: "Translate", examples: EXAMPLES },
        (text) => {
          if (!text.trim()) {
            return "Please write a German sentence first.";
          }
          const unknown = source.unknown(text);
          kept({ sentence: text, query: 0 });
          translate();
          return unknown.length
            ? "The model has never seen " +
                unknown.map((letter) => "“" + letter + "”").join(", ") +
                " and reads an unknown character instead."
            : "";
        },
      );
      room.append(
        line.element,
        output,
        before,
        choice("Attention", KINDS, state.kind, (kind) => {
          kept({ kind, query: 0 });
          drawHeads();
          drawLinks();
        }),
        make(
          "div",
          { class: "live-view" },
          make("div", {}, board, said.element, options),
          make(
            "div",
            {},
            make("p", { class: "live-head" }, "All heads: one row per layer, its mean first"),
            heads,
            switches,
            choice(
              "A head that is off",
              [
                ["zero", "gives zero"],
                ["even", "attends evenly"],
              ],
              state.how,
              (how) => {
                kept({ how });
                if (off.size) {
                  translate();
                }
              },
            ),
          ),
        ),
      );
      translate();
    },
  });
})(globalThis);
