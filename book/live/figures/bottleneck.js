// The translator with one vector on the reader's own numbers: which are right, and what changes if the list ends earlier.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, buttons, entry, words, counted, largest } = LIVE;
  const { ENGLISH, GERMAN, english, german } = LIVE.numbersInWords;
  const MOST = 8, // numbers in a list; the model has seen one to six
    COLUMNS = 32, // of the picture of c
    MOVED = 0.2, // from here on an entry counts as changed
    LISTS = [
      ["27, 504, 927, 493, 230, 46", "six random numbers"],
      ["611, 611, 611, 611, 611, 611", "one number six times"],
      ["3, 8, 5, 1, 9, 2", "six below ten"],
    ];

  // What the model writes greedily for a list of English words, and its vector c.
  LIVE.throughOneVector = function (model, source) {
    let state = model.start(source),
      token = LIVE.BOS;
    const tokens = [],
      vector = state.context;
    while (token !== LIVE.EOS && tokens.length < 60) {
      const step = model.step(token, state);
      state = step.state;
      [token] = largest(step.logits, 1);
      tokens.push(token);
    }
    return { tokens, vector };
  };

  // The numbers of a list beside those that the model writes, its source, and its vector.
  LIVE.listJudged = function (model, numbers) {
    const source = english(numbers).map((word) => ENGLISH.indexOf(word)),
      { tokens, vector } = LIVE.throughOneVector(model, source);
    const pairs = LIVE.sideBySide(
      numbers.map((n) => german([n]).join(" ")),
      numbersOf(tokens.filter((token) => token !== LIVE.EOS).map((token) => GERMAN[token])),
    );
    return { source, vector, pairs, right: pairs.filter(([a, b]) => a === b).length };
  };

  // Three kinds of lists, a hundred of each, always the same: six random numbers, one six times, and six below ten.
  LIVE.kindsOfLists = function () {
    let seed = 7;
    const below = (most) => (seed = (seed * 48271) % 2147483647) % most,
      hundred = (list) => Array.from({ length: 100 }, list),
      six = (most) => () => Array.from({ length: 6 }, () => below(most));
    return [hundred(six(1000)), hundred(() => new Array(6).fill(below(1000))), hundred(six(10))];
  };

  const numbersOf = (spelled) => (spelled.length ? spelled.join(" ").split(" , ") : []);

  // Which entries of c the last number of a list has changed: none, where it is the only one.
  LIVE.changedByLast = function (model, numbers) {
    if (numbers.length < 2) {
      return [];
    }
    const [before, after] = [numbers.slice(0, -1), numbers].map((list) => LIVE.listJudged(model, list).vector);
    return Array.from(after, (value, i) => i).filter((i) => Math.abs(after[i] - before[i]) > MOVED);
  };

  function picture(vector, changed) {
    const cells = Array.from(vector, (value, i) =>
      make("rect", {
        x: (i % COLUMNS) + 0.05,
        y: Math.floor(i / COLUMNS) + 0.05,
        width: 0.9,
        height: 0.9,
        fill: "hsl(" + (value < 0 ? 28 : 214) + " 80% 50%)",
        "fill-opacity": Math.abs(value).toFixed(2),
        stroke: changed.includes(i) ? "currentColor" : "none",
        "stroke-width": 0.09,
      }),
    );
    const rows = Math.ceil(vector.length / COLUMNS);
    return make(
      "svg",
      {
        viewBox: "0 0 " + COLUMNS + " " + rows,
        width: "100%",
        role: "img",
        "aria-label": "The " + vector.length + " numbers of the vector c",
      },
      cells,
    );
  }

  // Rows [wanted, written]: as many equal pairs in order as possible, and between them what is left, from the first on. So one
  // number that is missing, or two that became one, do not make the others wrong.
  LIVE.sideBySide = function (wanted, written) {
    const [w, ...ant] = wanted,
      [r, ...itten] = written;
    if (!wanted.length || !written.length) {
      return [...wanted.map((one) => [one, undefined]), ...written.map((one) => [undefined, one])];
    }
    const right = (rows) => rows.filter(([a, b]) => a === b).length;
    const together = [[w, r], ...LIVE.sideBySide(ant, itten)];
    if (w === r) {
      return together;
    }
    return [
      [[w, undefined], ...LIVE.sideBySide(ant, written)],
      [[undefined, r], ...LIVE.sideBySide(wanted, itten)],
    ].reduce((best, rows) => (right(rows) > right(best) ? rows : best), together);
  };

  const head = make.bind(null, "th");
  function table(numbers, pairs) {
    let at = 0; // among the numbers
    const rows = pairs.map(([wanted, written]) =>
      make(
        "tr",
        {},
        head({ scope: "row" }, wanted ? String(numbers[at++]) : "(extra)"),
        make("td", { lang: "de" }, (written === wanted ? "✓ " : "✗ ") + (written || "(missing)")),
        make("td", { lang: "de" }, written === wanted ? "" : wanted || ""),
      ),
    );
    const names = ["number", "the model writes", "correct (where it differs)"].map((name) => head({ scope: "col" }, name));
    return [make("thead", {}, make("tr", {}, names)), make("tbody", {}, rows)];
  }

  LIVE.figure("bottleneck", {
    title: "A list of numbers through one vector",
    todo: "Move the slider to the left, so that the list ends earlier. Which of the wrong numbers become correct, although the encoder has read them in the same way?",
    learned:
      "A number that is wrong in the complete list is often correct if the list ends with it: the vector held it, and what came later disturbed it. Mostly the first numbers survive, and wrong ones often have digits of their neighbours. In the hundred lists of each kind that the button counts, about 5.8 of six equal numbers are correct, 3.6 of six random ones, and 4.9 of six below ten (numbers, not whole lists). Equal ones are a single number to remember, while those below ten are still six, in their order (four of the six in the third list are correct). The vector always has 128 numbers, for one number and for six.",
    about:
      "The model of Chapter 1: a GRU as encoder, one as decoder, and one vector between them, 202,000 numbers (eight bits each here), trained for 2,400 steps on lists of one to six numbers below a thousand.",
    packs: ["plain_numbers"],
    defaults: { numbers: [27, 504, 927, 493, 230, 46], ends: 6, counted: 0 },
    draw(room, state, kept, pack) {
      const model = LIVE.PlainSeq2Seq(pack),
        board = make("table", { class: "live-table" }),
        read = make("p", { class: "live-about" }),
        vector = make("div", {}),
        turn = make("div", {}),
        means = make("p", { class: "live-before", role: "status" }),
        said = words();

      function show() {
        const numbers = state.numbers.slice(0, state.ends),
          found = LIVE.listJudged(model, numbers),
          { source, pairs, right } = found,
          changed = LIVE.changedByLast(model, numbers);
        read.textContent = "The encoder reads " + counted(source.length, "word") + ": " + english(numbers).join(" ");
        board.replaceChildren(...table(numbers, pairs));
        vector.replaceChildren(
          make("p", { class: "live-head" }, "The vector c: always " + found.vector.length + " numbers, for any list"),
          picture(found.vector, changed),
          make(
            "p",
            { class: "live-about" },
            "Blue is positive, orange is negative; the paler, the nearer to 0." +
              (numbers.length > 1
                ? " Framed: " + counted(changed.length, "entry", "entries") + " that the last number changed by more than " + MOVED + "."
                : ""),
          ),
        );
        said.say(
          right +
            " of " +
            counted(numbers.length, "number") +
            (right === 1 ? " is correct." : " are correct.") +
            (pairs.some(([wanted, written]) => !wanted || !written)
              ? " Rows are paired in order, with as many correct ones as possible; “(missing)” or “(extra)” stands where a number has no partner then."
              : "") +
            (numbers.length > 6 ? " In training the model saw at most six numbers." : ""),
        );
      }

      function dial() {
        const most = state.numbers.length;
        turn.replaceChildren(
          ...(most > 1
            ? [
                slider("The list ends after number", { from: 1, to: most, step: 1, value: state.ends }, (ends) => {
                  kept({ ends });
                  show();
                }),
              ]
            : []),
        );
      }

      // Counts the right numbers of all kinds of lists, a few lists at a time, so that the page stays awake.
      async function count() {
        kept({ counted: 1 });
        const kinds = LIVE.kindsOfLists(),
          right = kinds.map(() => 0);
        for (let n = 0; n < 100; n++) {
          if (n % 5 === 0) {
            means.textContent = n ? n + " lists of each kind …" : "";
            await new Promise((resolve) => setTimeout(resolve));
          }
          kinds.forEach((lists, kind) => (right[kind] += LIVE.listJudged(model, lists[n]).right));
        }
        const [random, equal, digits] = right.map((sum) => (sum / 100).toFixed(1));
        means.textContent =
          "Correct of six numbers, mean over a hundred lists: " +
          random +
          " of random ones, " +
          equal +
          " of equal ones, " +
          digits +
          " of those below ten.";
      }

      const line = entry(
        "Or a list of your own: numbers from 0 to 999, with commas",
        { value: state.numbers.join(", "), button: "Translate", most: 60 },
        (text) => {
          const numbers = LIVE.numbersIn(text, MOST);
          if (!numbers) {
            return "Please write one to eight whole numbers from 0 to 999, with commas between them.";
          }
          kept({ numbers, ends: numbers.length });
          dial();
          show();
          mark();
          return "";
        },
      );
      const kinds = choice("Then take another list:", LISTS, state.numbers.join(", "), (list) => {
        line.field.value = list;
        line.enter();
      });
      // Which list is chosen, and whether the line holds another one: only then the button has something to do.
      function mark() {
        const list = state.numbers.join(", ");
        kinds.querySelectorAll("input").forEach((one, i) => (one.checked = LISTS[i][0] === list));
        line.element.querySelector("button").setAttribute("aria-disabled", String(line.field.value === list));
      }
      line.field.addEventListener("input", mark);
      room.append(
        turn,
        kinds,
        read,
        board,
        said.element,
        vector,
        line.element,
        make("p", { class: "live-head" }, "Of which kind are most numbers correct? Guess first."),
        buttons(["Count a hundred lists of each kind", count]),
        means,
      );
      mark();
      dial();
      show();
      if (state.counted) {
        count();
      }
    },
  });
})(globalThis);
