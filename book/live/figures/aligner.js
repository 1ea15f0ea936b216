// Bahdanau's model on the reader's own numbers: step by step, where it attends, and what it writes if it must attend elsewhere.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, buttons, entry, slider, words, percent, largest, softmax, dot } = LIVE;
  const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
  const MOST = 10; // numbers in a list; the model has seen one to six

  // Weights of which one is set by hand, and the others keep their proportions.
  LIVE.byHand = function (weights, key, share) {
    const others = 1 - weights[key],
      even = 1 / (weights.length - 1);
    return weights.length === 1 ? weights : weights.map((w, k) => (k === key ? share : (1 - share) * (others > 1e-6 ? w / others : even)));
  };

  // What the model writes greedily. `forced`: { step, key, share }, where the reader sets the weight of one source word.
  LIVE.aligned = function (model, source, forced) {
    let state = model.start(source),
      token = LIVE.BOS;
    const steps = [];
    while (token !== LIVE.EOS && steps.length < 60) {
      let step = model.step(token, state);
      if (forced && forced.step === steps.length) {
        step = model.step(token, state, LIVE.byHand(step.weights, forced.key, forced.share));
      }
      state = step.state;
      [token] = largest(step.logits, 1);
      steps.push({ token, weights: Array.from(step.weights), chances: softmax(step.logits) });
    }
    return steps;
  };

  // Vectors in the plane in which they are spread most (their first two principal components): { points, share of the spread }.
  LIVE.flattened = function (vectors) {
    const mean = vectors[0].map((_, i) => vectors.reduce((sum, v) => sum + v[i], 0) / vectors.length),
      centred = vectors.map((v) => v.map((x, i) => x - mean[i]));
    const products = centred.map((a) => centred.map((b) => dot(a, b))),
      all = products.reduce((sum, row, i) => sum + row[i], 0);
    let found = 0;
    const axes = [0, 1].map(() => {
      let axis = products.map((_, i) => 1 + (i % 3)),
        spread = 0;
      for (let turn = 0; turn < 300; turn++) {
        axis = products.map((row) => dot(row, axis));
        spread = Math.sqrt(dot(axis, axis)) || 1;
        axis = axis.map((x) => x / spread);
      }
      products.forEach((row, i) => row.forEach((_, j) => (row[j] -= spread * axis[i] * axis[j]))); // leaves the next one
      found += spread;
      return axis.map((x) => x * Math.sqrt(spread));
    });
    return { points: vectors.map((_, i) => axes.map((axis) => axis[i])), share: all > 0 ? Math.min(1, found / all) : 1 };
  };

  // A picture of the values V_i, the context c, and an arrow V_i − c from it to each value, as wide as the weight.
  const WIDTH = 420,
    HEIGHT = 300,
    EDGE = 38;
  function valueMap(points, words, weights, chosen) {
    const spans = [0, 1].map((i) => [Math.min(...points.map((p) => p[i])), Math.max(...points.map((p) => p[i]))]);
    const place = (p) =>
      [WIDTH, HEIGHT].map((size, i) => EDGE + ((size - 2 * EDGE) * (p[i] - spans[i][0])) / (spans[i][1] - spans[i][0] || 1));
    const at = points.map(place),
      context = [0, 1].map((i) => at.reduce((sum, p, k) => sum + weights[k] * p[i], 0)); // of the weights' sum is 1
    const arrow = (to, k) => {
      const [dx, dy] = [to[0] - context[0], to[1] - context[1]],
        far = Math.hypot(dx, dy);
      if (far < 6) {
        return null;
      }
      const along = (from, side) => [from[0] - (dx * 9 - dy * side) / far, from[1] - (dy * 9 + dx * side) / far].join();
      const shown = { class: k === chosen ? "is-on" : null, style: "--w:" + weights[k].toFixed(3) };
      return make(
        "g",
        shown,
        make("line", { x1: context[0], y1: context[1], x2: to[0], y2: to[1], "stroke-width": 1 + 5 * weights[k] }),
        make("polygon", { points: [to.join(), along(to, 5), along(to, -5)].join(" ") }),
      );
    };
    // A name stands above its value, or where it covers no other name: below, left, right; else it is left out.
    const taken = [];
    const name = (k) => {
      const half = 4.4 * words[k].length,
        [x, y] = at[k];
      const free = [
        [0, -14],
        [0, 16],
        [-half - 9, 0],
        [half + 9, 0],
      ]
        .map(([dx, dy]) => [x + dx, y + dy])
        .find(
          ([cx, cy]) =>
            cx > half && cx < WIDTH - half && taken.every((one) => Math.abs(one[1] - cy) > 15 || Math.abs(one[0] - cx) > one[2] + half),
        );
      if (!free) {
        return null;
      }
      taken.push([...free, half]);
      return make("text", { x: free[0], y: free[1] + 5, "text-anchor": "middle" }, words[k]);
    };
    const order = largest(
      [...weights].map((w, k) => (k === chosen ? 2 : w)),
      words.length,
    ).filter((k) => words.length < 16 || k === chosen || weights[k] > 0.02);
    return make(
      "svg",
      { class: "live-values", viewBox: "0 0 " + WIDTH + " " + HEIGHT, role: "img", "aria-label": "The values, and the context among them" },
      at.map(arrow),
      order.map(name),
      at.map(([x, y]) => make("rect", { x: x - 4, y: y - 4, width: 8, height: 8 })),
      make("circle", { cx: context[0], cy: context[1], r: 8 }),
    );
  }

  LIVE.figure("aligner", {
    title: "A translator of numbers, step by step",
    todo: "In step 3 the model writes “zwei”. Give “seven” more weight with the slider: at which weight does the word change? Do the same in step 2, where it writes “hundert”. Then go through all steps and watch how the arrows pull the context. Finally, translate the example of eight numbers: in which step does the model lose its position?",
    learned:
      "The context decides which number word is written: in step 3 “zwei” becomes “sieben” when “seven” has 47 % of the weight, and “vierzig” when “forty” has 73 %. In step 2 it is “hundert” whichever word has the weight, because the decoder’s state knows that it comes. With nearly all the weight at one word, the context lies at its value and the other arrows are thin: none of them can move it much. In the example of eight numbers the model loses its position in step 11: “six”, “four” and “five” have 31 %, 23 % and 22 %, and it writes “sechs” instead of “vier”.",
    about:
      "The model of Chapter 2: a GRU in both directions with additive attention, 194,000 numbers (eight bits each here), trained on lists of one to six numbers below a thousand.",
    packs: ["numbers"],
    defaults: { numbers: [342, 7, 85], step: 2, key: 6, forced: -1, on: 0, share: 1 },
    draw(room, state, kept, pack) {
      const model = LIVE.AttentionSeq2Seq(pack),
        output = make("p", { class: "live-text", lang: "de" }),
        check = make("p", { class: "live-before" });
      const board = make("div", {}),
        options = make("div", {}),
        said = words(),
        hand = make("div", {}),
        jump = make("div", {}),
        map = make("div", {}),
        spread = make("p", { class: "live-before" });
      const nameOf = (token) => (token === LIVE.EOS ? "(end)" : GERMAN[token]);
      let steps = [],
        own = [], // what the model writes with its own weights
        source = [],
        values = null,
        links = null,
        weight = null;

      const ids = () => source.map((word) => ENGLISH.indexOf(word));
      const lastStep = () => Math.min(state.step, steps.length - 1);

      function read() {
        source = english(state.numbers);
        values = LIVE.flattened(model.start(ids()).annotations);
        own = LIVE.aligned(model, ids());
        spread.textContent =
          "Squares: the value of each source word. Circle: the context. Each arrow is V − c, as thick as the weight: a larger score moves the context along it. This plane shows " +
          percent(values.share) +
          " of the values’ variance.";
        kept({ key: Math.min(state.key, source.length - 1) });
        write();
      }

      // The step in which the text departs from the right one, or −1.
      function faultOf(written, wanted) {
        const length = Math.max(written.length, wanted.length);
        return Array.from({ length }).findIndex((_, i) => written[i] !== wanted[i]);
      }

      function write() {
        steps = state.forced < 0 ? own : LIVE.aligned(model, ids(), { step: state.forced, key: state.on, share: state.share });
        const written = steps.map((step) => nameOf(step.token)),
          wanted = [...german(state.numbers), "(end)"],
          fault = faultOf(written, wanted);
        const marked = (word, i) => (i === fault ? make("mark", {}, word) : word);
        output.replaceChildren(...written.filter((word) => word !== "(end)").flatMap((word, i) => [marked(word, i), " "]));
        check.textContent =
          fault < 0
            ? "This is right."
            : "Step " +
              (fault + 1) +
              " is the first that is wrong: “" +
              (written[fault] || "nothing") +
              "” instead of “" +
              (wanted[fault] || "(end)") +
              "”. Right would be: " +
              wanted.slice(0, -1).join(" ") +
              "." +
              (state.numbers.length > 6 ? " In training it saw at most six numbers." : "");
        const go = () => links.choose(Math.min(fault, steps.length - 1));
        refill(jump, fault < 0 ? null : buttons(["Go to step " + (fault + 1), go]));
        links = LIVE.links({
          queries: written,
          keys: source,
          weights: steps.map((step) => step.weights),
          languages: ["de", "en"],
          chose,
          picked: (key) => {
            kept({ key });
            chose(lastStep());
          },
          fault,
        });
        refill(board, links.element);
        links.choose(lastStep());
      }

      function set(share) {
        kept({ forced: lastStep(), on: state.key, share });
        write();
      }
      function free() {
        kept({ forced: -1 });
        write();
      }

      function chose(step) {
        kept({ step });
        const { weights, chances, token } = steps[step],
          forced = state.forced === step,
          name = "“" + source[state.key] + "”";
        links.pick(state.key);
        refill(
          options,
          LIVE.bars(
            "The next word, by probability",
            largest(chances, 4).map((number) => [
              nameOf(number) + (number === token ? " ✓" : ""),
              chances[number],
              percent(chances[number]),
            ]),
          ),
        );
        map.replaceChildren(valueMap(values.points, source, weights, state.key));
        weight.firstChild.textContent = "Weight of " + name + " in step " + (step + 1);
        weight.set(100 * weights[state.key]);
        hand.querySelector("button").setAttribute("aria-disabled", String(state.forced < 0));
        const most = largest(weights, 2)
          .map((k) => "“" + source[k] + "” " + percent(weights[k]))
          .join(", ");
        const before = forced && own[step] ? own[step].token : token;
        said.say(
          "Step " +
            (step + 1) +
            ": " +
            (forced
              ? "with " + percent(weights[state.on]) + " for “" + source[state.on] + "”, set by hand, it"
              : "it attends to " + most + ", and") +
            " writes “" +
            nameOf(token) +
            "” with probability " +
            percent(chances[token]) +
            (before === token ? (forced ? ", as with its own weights." : ".") : " instead of “" + nameOf(before) + "”."),
        );
      }

      const line = entry(
        "Numbers from 0 to 999, with commas",
        {
          value: state.numbers.join(", "),
          button: "Translate",
          most: 60,
          examples: ["42, 7", "21, 12, 112", "800, 1, 99", "11, 22, 33, 44, 55, 66, 77, 88"],
        },
        (text) => {
          const numbers = LIVE.numbersIn(text, MOST);
          if (!numbers) {
            return "Please write one to ten whole numbers from 0 to 999, with commas between them.";
          }
          kept({ numbers, step: 0, forced: -1, key: 0 });
          read();
          return "";
        },
      );
      weight = slider("Weight", { from: 0, to: 100, step: 1, value: 0, shown: (n) => Math.round(n) + " %" }, (n) => set(n / 100));
      hand.append(weight, buttons(["Let the model choose its weights again", free]));
      room.append(
        line.element,
        output,
        check,
        jump,
        make(
          "div",
          { class: "live-view" },
          make("div", {}, make("p", { class: "live-head" }, "Written words, and the source: press a source word to set its weight"), board),
          make("div", {}, hand, said.element, options, make("p", { class: "live-head" }, "How the values pull the context"), map, spread),
        ),
      );
      read();
    },
  });
})(globalThis);
