// The reader's German sentence, what the course's Transformer writes, and where each of its 54 heads attends.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, oneStop, choice, buttons, entry, words, counted, percent, largest, shownPiece: shown, meanMap: mean } = LIVE,
    [ROOF, TABLE, SHOP] = Object.keys(LIVE.RECORDED); // with the roof the page of Chapter 18 begins
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

  const OFFERED = [
    ["roof, capital R", ROOF],
    ["roof, small r", ROOF.replace("Rep", "rep")],
    ["table", TABLE],
    ["shop", SHOP],
    ...["stairs", "dog", "bench", "beach"].map((name, i) => [name, EXAMPLES[i]]),
  ];

  LIVE.figure("translator", {
    title: "A translator whose heads can be seen and switched",
    todo: "Take the example “stairs”. Choose written words, with the pointer or the arrow keys: to which source words do “climbing” and “up” attend? Then open “All 54 heads”, and let the page switch off each in turn: how many of the 18 from target to source change the translation? Do the same within the source and within the target, and then write a sentence of your own.",
    learned:
      "“climbing” attends almost only to “steigen”, but “up” attends more to “eine” and “Treppe” than to “hinauf”: a word can be right although its weights do not point at what it translates. There “a” was the more probable next piece; the beam of five wrote “up”, because the whole text is more probable with it. In “stairs”, 9 of the 18 heads from target to source change a word when their output is zero, 6 of those within the source, and 4 of those within the target; most of them change one word only, because other heads do similar work. Words that the model has never read are cut into pieces, such as “verschnei” and “te”.",
    about:
      "The translator of Chapter 18: 3.7 million numbers (eight bits each here), trained in 49 minutes on one processor core with 29,000 captions of photographs. It translates other kinds of sentences badly.",
    packs: ["translator"],
    says: ({ sentence }) =>
      sentence === ROOF
        ? {
            title: "A translator for your own German",
            todo: "Translate the roof with a capital R in “Reparieren”, and then with a small r, as it should be (change the letter, or press an example): which verb does the model write each time, and how probable was it? Choose the verb in the left column to read this, and to see to which German pieces it attends.",
            learned:
              "With the capital letter, “repair” attends most to “par”, the middle piece of the verb. It is the most probable next piece, but with 12 % only; “working” has 9.4 %. With a small r the verb is one known piece and not three, and the model writes “fixing” with 84 %. So one capital letter makes the verb far less certain.",
          }
        : {},
    defaults: { sentence: EXAMPLES[0], kind: "cross", layer: 2, head: -1, query: 6, off: "", how: "zero" },
    draw(room, state, kept, pack) {
      const source = LIVE.BytePairs(pack.pieces.source),
        target = LIVE.BytePairs(pack.pieces.target),
        off = new Set(state.off.split("+").filter(Boolean));
      const model = LIVE.Transformer(pack, (kind, layer, head) => (off.has([kind, layer, head].join("_")) ? state.how : undefined)),
        whole = LIVE.Transformer(pack);
      const output = make("p", { class: "live-text", lang: "en" }),
        below = make("p", { class: "live-before" }),
        earlier = make("p", { class: "live-before" }),
        german = make("p", { class: "live-before", lang: "de" }), // the field may be too short for it
        others = make("div", {}),
        offered = oneStop(
          make("p", { class: "live-examples", role: "group", "aria-label": "Examples: arrow keys and Enter choose one" }),
          OFFERED.length,
        ),
        board = make("div", {}),
        heads = oneStop(make("div", { class: "live-heads", role: "group", "aria-label": "Heads: arrow keys and Enter choose one" }), 7);
      const options = make("div", {}),
        said = words(),
        switches = make("div", {}),
        [trials, without] = [0, 1].map(() => make("p", { class: "live-before", role: "status" }));
      const unswitched = new Map(), // what is written with all heads, by sentence
        read = new Map(), // what the encoder made of a sentence, by the heads that are off in it
        changed = new Map(); // what is written without a head, by its name
      let found = null,
        trial = 0;

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
        LIVE.headGrid(heads, found.weights[state.kind], (layer, head) => {
          const name = [state.kind, layer, head].join("_");
          return {
            name: nameOf(layer, head),
            off: off.has(name),
            instead: changed.get(name),
            chosen: layer === state.layer && head === state.head,
            choose() {
              kept({ layer, head });
              drawHeads();
              drawLinks();
              tellWithout();
            },
          };
        });
      }

      // The encoder reads a sentence again only where one of its own heads was switched.
      function readBy(switched, names) {
        const own = names.filter((name) => name.startsWith("encoder")).sort(),
          key = [state.sentence, own.length ? state.how : "", ...own].join("+");
        if (!read.has(key)) {
          read.set(key, LIVE.readIn(switched, source, state.sentence));
        }
        return read.get(key);
      }

      // Translates once without each head of this kind; a press on anything that changes the model ends it.
      async function tryAll() {
        const mine = ++trial,
          { kind, how } = state,
          all = found.weights[kind].flatMap((row, layer) => row.map((_, head) => [kind, layer, head].join("_")));
        changed.clear();
        for (const [n, name] of all.entries()) {
          trials.textContent = "Without head " + (n + 1) + " of " + all.length + " …";
          await new Promise((done) => setTimeout(done));
          if (mine !== trial) {
            return;
          }
          const lacking = LIVE.Transformer(pack, (...at) => (at.join("_") === name || off.has(at.join("_")) ? how : undefined));
          const { text } = LIVE.translation(lacking, source, target, state.sentence, 5, readBy(lacking, [...off, name]));
          if (text !== found.text) {
            changed.set(name, text);
          }
        }
        drawHeads();
        tellWithout();
        trials.textContent = LIVE.trialTold(changed.size, all.length, off.size);
      }
      // What is written without the chosen head, if it was tried and changes the translation.
      function tellWithout() {
        const text = changed.get([state.kind, state.layer, state.head].join("_"));
        without.textContent = text ? nameOf(state.layer, state.head) + ": without it the model writes “" + text + "”" : "";
      }
      function forget() {
        trial++;
        changed.clear();
        trials.textContent = without.textContent = "";
      }

      const chanceOf = (query) => found.options[query].find(([piece]) => piece === found.target[query])[1];
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
            "." +
            (state.kind === "encoder" ? "" : " The model wrote it with a probability of " + percent(chanceOf(query)) + "."),
        );
        LIVE.optionBars(options, found, state.kind === "encoder" ? -1 : query);
      }

      function drawLinks() {
        const [queries, keys] = labels(),
          languages = { cross: ["en", "de"], encoder: ["de", "de"], self: ["en", "en"] }[state.kind];
        const links = LIVE.links({ queries: queries.map(shown), keys: keys.map(shown), weights: map(), languages, chose });
        const is = off.has([state.kind, state.layer, state.head].join("_")) ? ", switched off" : "";
        const from = KINDS.find(([kind]) => kind === state.kind)[1];
        refill(board, make("p", { class: "live-head" }, nameOf(state.layer, state.head) + ", " + from + is), links.element);
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
        };
        const all = () => {
          off.clear();
          kept({ off: "" });
          translate();
        };
        refill(
          switches,
          buttons(
            ["Switch off each in turn", tryAll],
            ...(state.head < 0 ? [] : [[is ? "Switch this head on" : "Switch this head off", flip]]),
            ...(off.size ? [["Switch all on (" + off.size + " off)", all]] : []),
          ),
        );
      }

      function translate(old) {
        forget();
        found = LIVE.translation(model, source, target, state.sentence, 5, readBy(model, [...off]));
        if (!off.size) {
          unswitched.set(state.sentence, found.text);
        } else if (!unswitched.has(state.sentence)) {
          unswitched.set(state.sentence, LIVE.translation(whole, source, target, state.sentence, 5).text); // a link began so
        }
        const before = unswitched.get(state.sentence);
        output.textContent = found.text;
        german.textContent = state.sentence;
        below.textContent = off.size
          ? before === found.text
            ? "The same as with all heads."
            : "With all heads: " + before
          : counted(found.source.length, "piece") +
            " read, " +
            found.target.length +
            " written with a beam of five." +
            (found.target.at(-1) === "▁(end)" ? "" : " The text has no end: after 60 pieces the page stops.") +
            (2 * found.target.length < found.source.length ? " That is less than half as long as what was read: much is missing." : "");
        if (old) {
          const { at, told } = LIVE.differing(old, found);
          earlier.textContent = told;
          kept({ query: state.kind === "encoder" ? 0 : at < 0 ? state.query : at });
        }
        refill(others, LIVE.otherModels(state.sentence));
        LIVE.namedExamples(offered, OFFERED, state.sentence, (text) => {
          line.field.value = text;
          line.enter();
        });
        drawHeads();
        drawLinks();
      }

      const line = entry(
        "A German sentence about a photograph",
        { value: state.sentence, lang: "de", most: 160, button: "Translate" },
        (text) => {
          if (!text.trim()) {
            return "Please write a German sentence first.";
          }
          kept({ sentence: text });
          read.clear();
          translate(found);
          return LIVE.doubts(source, text);
        },
      );
      room.append(
        line.element,
        offered,
        german,
        output,
        below,
        earlier,
        others,
        make("div", { class: "live-view" }, board, make("div", {}, said.element, options)),
        make(
          "details",
          { class: "live-printed" },
          make("summary", {}, "All 54 heads: see them, and switch them off"),
          choice("Attention", KINDS, state.kind, (kind) => {
            kept({ kind, query: [kind, state.kind].includes("encoder") ? 0 : state.query }); // the others have the same words
            forget();
            drawHeads();
            drawLinks();
          }),
          make(
            "p",
            { class: "live-before" },
            "Press a head to see its weights above (“all”: the mean of its layer). A row of a picture is a query, and a column a key.",
          ),
          heads,
          switches,
          trials,
          without,
          choice(
            "A head that is off",
            [
              ["zero", "gives zero"],
              ["even", "attends evenly"],
            ],
            state.how,
            (how) => {
              kept({ how });
              forget();
              (off.size ? translate : drawHeads)();
            },
          ),
          make(
            "p",
            { class: "live-before" },
            "A head writes a weighted mean of its values. Switched off, it writes zeros instead, or the mean with equal weights.",
          ),
        ),
      );
      translate();
    },
  });
})(globalThis);
