// Bahdanau's model on the reader's own numbers: step by step, where it attends, and what it writes if it must attend elsewhere.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, buttons, entry, slider, words, percent, largest } = LIVE;
  const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
  const MOST = 10, // numbers in a list; the model has seen one to six
    FIRST = [7, 342, 85],
    OTHERS = [
      [42, 7],
      [21, 12, 112],
      [800, 1, 99],
      [11, 22, 33, 44, 55, 66, 77, 88],
    ];
  const isChosen = (list, numbers) => String(list) === String(numbers);

  LIVE.figure("aligner", {
    title: "A translator of numbers, step by step",
    todo: "Choose “zwei” on the left: its lines show to which English words it attends. Then press “seven” on the right, and give it more weight with the slider: at which weight does the German word change? Does “hundert” change, too?",
    learned:
      "The context decides which number word is written: in step 5 “zwei” becomes “sieben” when “seven” has 51 % of the weight, and “vierzig” when “forty” has 69 %. “hundert” in step 4 never changes, because the decoder’s state knows that it comes. In the example of eight numbers, which is longer than the lists of its training, the model loses its position in step 11: “six”, “four” and “five” have 31 %, 23 % and 22 %, and it writes “sechs” instead of “vier”.",
    about:
      "The model of Chapter 2: a GRU in both directions with additive attention, 194,000 numbers, trained on lists of one to six numbers below a thousand. They are rounded to eight bits each here, so a weight can differ a little from the printed figures: for 42, 7 “zwei” has 78 % at “two”, in place of 0.79.",
    packs: ["numbers"],
    defaults: { numbers: FIRST, step: 4, key: 0, forced: -1, on: 0, share: 1 },
    draw(room, state, kept, pack) {
      const model = LIVE.AttentionSeq2Seq(pack),
        output = make("p", { class: "live-text", lang: "de" }),
        check = make("p", { class: "live-before" });
      const board = make("div", {}),
        options = make("div", {}),
        said = words(),
        hand = make("div", {}),
        jump = make("div", {}),
        chosen = make("div", {}),
        map = make("div", {}),
        unnamed = make("p", { class: "live-before" }),
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
          "Squares: the value of each source word. Circle: the context. An arrow leads from the context to each value, as thick as the weight: a larger score moves the context along it. Flattened to a plane, which shows " +
          percent(values.share) +
          " of the values’ variance, so what seems near need not be near.";
        examples();
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
            largest(chances, 3).map((number) => [
              nameOf(number) + (number === token ? " (written)" : ""),
              chances[number],
              percent(chances[number]),
            ]),
          ),
        );
        const names = source.map((word) => (word === "," ? "comma" : word)),
          { element, nameless } = LIVE.valueMap(values.points, names, weights, state.key);
        map.replaceChildren(element);
        unnamed.textContent = nameless.length ? "There is no room for " + LIVE.listed(nameless) + "." : "";
        weight.firstChild.textContent = "Weight of " + name + " in step " + (step + 1);
        weight.set(100 * weights[state.key]);
        hand.querySelector(".live-buttons button").setAttribute("aria-disabled", String(state.forced < 0)); // hidden, it would lose the focus
        const most = largest(weights, 2)
          .map((k) => "“" + source[k] + "” " + percent(weights[k]))
          .join(", ");
        const before = forced && own[step] ? own[step].token : token,
          changes = source.filter((_, k) => steps[step].only(k) !== before).length;
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
            (before === token ? (forced ? ", as with its own weights." : ".") : " instead of “" + nameOf(before) + "”.") +
            " With all the weight at one source word, “" +
            nameOf(before) +
            "” changes for " +
            (changes || "none") +
            " of " +
            source.length +
            ".",
        );
      }

      const line = entry(
        "Numbers from 0 to 999, with commas",
        { value: state.numbers.join(", "), button: "Translate", most: 60 },
        (text) => {
          const numbers = LIVE.numbersIn(text, MOST);
          if (!numbers) {
            return "Please write one to ten whole numbers from 0 to 999, with commas between them.";
          }
          translate(numbers);
          return "";
        },
      );

      // The first list begins where the chapter's question is; the others begin with their first word.
      function translate(numbers) {
        kept({ numbers, step: isChosen(FIRST, numbers) ? 4 : 0, forced: -1, key: 0 });
        line.field.value = numbers.join(", ");
        read();
      }
      function examples() {
        const example = (list) => [list.join(", "), () => translate(list), isChosen(list, state.numbers)];
        refill(chosen, buttons(...[FIRST, ...OTHERS].map(example)));
      }
      weight = slider("Weight", { from: 0, to: 100, step: 1, value: 0, shown: (n) => Math.round(n) + " %" }, (n) => set(n / 100));
      hand.append(weight, buttons(["the model’s own weights again", free]));
      const fold = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);
      room.append(
        make("p", { class: "live-head" }, "List of numbers"),
        chosen,
        fold("Your own list", line.element),
        output,
        check,
        jump,
        make(
          "div",
          { class: "live-view" },
          make("div", {}, make("p", { class: "live-head" }, "Written word, and source"), board),
          make("div", {}, said.element, hand, options),
        ),
        fold("How the values pull the context", map, unnamed, spread),
      );
      read();
    },
  });
})(globalThis);
