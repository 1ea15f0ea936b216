// A neural Turing machine copies what the reader types, eight bits per letter: its memory and heads at each step.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, buttons, entry, words, percent, signed, largest } = LIVE;
  const ROWS = 128, // of the memory in training
    BITS = [7, 6, 5, 4, 3, 2, 1, 0];
  const LONG = "the quick brown fox jumps over the lazy dog, and then it turns round and jumps again",
    FULL = "with nearly as many letters as the memory has rows this text leaves no room for the heads, and its last letters are lost";

  LIVE.tapeTexts = ["attention", "aaaaaaaaaa", LONG, FULL]; // the examples

  // A text as the machine reads it: the bits of each letter, the end mark, then silence; and what it answers meanwhile.
  LIVE.copyText = function (machine, text, rows = ROWS) {
    const bytes = Array.from(text, (letter) => letter.charCodeAt(0)),
      silence = new Array(9).fill(0);
    const inputs = [
      ...bytes.map((byte) => [...BITS.map((bit) => (byte >> bit) & 1), 0]),
      [...silence.slice(1), 1],
      ...bytes.map(() => silence),
    ];
    let state = machine.start(rows);
    const steps = inputs.map((x) => {
      const step = machine.step(x, state);
      state = step.state;
      return step;
    });
    const letterOf = (output) => String.fromCharCode(BITS.reduce((sum, bit, i) => sum | ((output[i] > 0.5) << bit), 0));
    return {
      inputs,
      steps,
      answer: steps
        .slice(bytes.length + 1)
        .map((step) => letterOf(step.output))
        .join(""),
    };
  };

  // Signs that can't be seen, as a box.
  const visible = (letter) => (/[\p{C}\s]/u.test(letter) && letter !== " " ? "▯" : letter);

  // A pixel for each cell(x, y) -> [colour, strength].
  function paint(canvas, width, height, cell) {
    Object.assign(canvas, { width, height });
    const image = new ImageData(width, height);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at += 4) {
        const [colour, strength] = cell(x, y);
        image.data.set(colour, at);
        image.data[at + 3] = 255 * Math.min(1, Math.abs(strength));
      }
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
  const BLUE = [64, 132, 214],
    ORANGE = [230, 126, 20],
    RED = [190, 60, 120];

  // The numbers of the rows beside a picture that shows so many: as many as have room, and the rows of the heads, [row, kind] each.
  const rowNumbers = (count, heads) => {
    const apart = [2, 5, 10, 20, 50].find((step) => count / step <= 13),
      at = (row) => "top:" + ((100 * (row + 0.5)) / count).toFixed(2) + "%",
      near = (row) => heads.some(([head]) => Math.abs(head - row) < 0.06 * count);
    const even = Array.from({ length: Math.ceil(count / apart) }, (_, n) => n * apart).filter((row) => !near(row));
    return [...even.map((row) => [row, ""]), ...heads].map(([row, kind]) =>
      make("span", { class: kind || null, style: at(row) }, String(row)),
    );
  };

  LIVE.figure("tape", {
    title: "A neural Turing machine copies your text",
    todo: "Follow both heads step by step: when does each one move, and in which rows? Then copy the longer examples, which are far longer than any text of its training, and ten times the letter a (“aaaaaaaaaa”): where do letters go wrong, and is it cured by more rows of memory?",
    learned:
      "The machine has learned a program: write each letter into the next row, and from the end mark on read row by row, from the first one on. Nothing in it says how long a text may be, so it copies 84 letters without an error, although it was trained on at most twenty. But it needs a row for each letter, and some to spare. With 64 rows the write head comes round and overwrites the first rows; nearly all letters are wrong then, more than were overwritten. The longest example needs more than 128 rows, and 256 cure it. They don't cure ten times the letter a, a kind of text that hardly occurred in training.",
    about:
      "One of the machines trained as in the paper (Chapter 13, feed-forward controller, seed 0): 13,260 numbers, trained with 128 rows of memory on copying one to twenty random vectors of eight bits, 14,000 sequences.",
    packs: ["ntm"],
    defaults: { text: "attention", step: 0, rows: ROWS },
    draw(room, state, kept, pack) {
      const machine = LIVE.NTM(pack),
        answer = make("p", { class: "live-text live-answer" }),
        count = make("p", { class: "live-before", role: "status" }),
        said = words(),
        controls = make("div", {});
      const memory = make("canvas", { class: "live-memory", role: "img" }),
        track = make("canvas", {
          class: "live-memory",
          role: "img",
          "aria-label": "Where both heads were at each step: write head blue, read head orange",
        });
      const numbers = [memory, track].map(() => make("div", { class: "live-rows", "aria-hidden": "true" }));
      const beside = (picture, n) => make("div", { class: "live-numbered" }, numbers[n], picture);
      let run = null;
      const rows = () => Math.min(state.rows, Math.max(20, state.text.length + 4)); // that are drawn

      const event = (step) => {
        const n = state.text.length;
        return step < n
          ? "reads “" + state.text[step] + "”"
          : step === n
            ? "reads the end mark"
            : "answers “" + visible(run.answer[step - n - 1]) + "”";
      };

      function show(step) {
        kept({ step });
        const { state: now } = run.steps[step],
          [reader, writer] = now.heads,
          M = now.memory[0].length;
        paint(memory, M + 4, rows(), (x, y) =>
          x === 0
            ? [BLUE, writer.weights[y]]
            : x === M + 3
              ? [ORANGE, reader.weights[y]]
              : x < 2 || x > M + 1
                ? [BLUE, 0]
                : [now.memory[y][x - 2] > 0 ? BLUE : RED, now.memory[y][x - 2]],
        );
        // A head that reads or writes mainly one row; where two numbers would lie on each other, the write head's.
        const seen = [
          [writer, "is-write"],
          [reader, "is-read"],
        ]
          .map(([{ weights }, kind]) => [largest(weights, 1)[0], kind, Math.max(...weights)])
          .filter(
            ([row, , most], n, all) => most > 0.5 && row < rows() && !(n && all[0][2] > 0.5 && Math.abs(row - all[0][0]) < 0.06 * rows()),
          );
        numbers[0].replaceChildren(...rowNumbers(rows(), seen));
        track.style.setProperty("--at", ((100 * (step + 0.5)) / run.steps.length).toFixed(2) + "%");
        const at = ({ weights }) => "row " + largest(weights, 1)[0] + " (" + percent(Math.max(...weights)) + ")";
        said.say(
          "Step " +
            (step + 1) +
            " of " +
            run.steps.length +
            ": it " +
            event(step) +
            ". Write head at " +
            at(writer) +
            ", read head at " +
            at(reader) +
            ". Gates (0: the head starts from where it was, 1: from the content): write " +
            signed(writer.gate) +
            ", read " +
            signed(reader.gate) +
            ".",
        );
        memory.setAttribute("aria-label", "The memory after this step");
      }

      function copy() {
        run = LIVE.copyText(machine, state.text, state.rows);
        const letters = Array.from(run.answer),
          wrong = letters.map((letter, i) => (letter === state.text[i] ? -1 : i)).filter((i) => i >= 0);
        answer.replaceChildren(
          "It answers: ",
          ...letters.map((letter, i) => (wrong.includes(i) ? make("mark", {}, visible(letter)) : letter)),
        );
        count.textContent = wrong.length
          ? wrong.length +
            " of " +
            letters.length +
            (wrong.length === 1 ? " letters is" : " letters are") +
            " wrong (marked), the first one is letter " +
            (wrong[0] + 1) +
            "."
          : (letters.length === 1 ? "The letter is" : "All " + letters.length + " letters are") + " right.";
        if (letters.some((letter) => visible(letter) !== letter)) {
          count.textContent += " A box ▯ stands for a sign that can’t be seen.";
        }
        numbers[1].replaceChildren(...rowNumbers(rows(), []));
        paint(track, run.steps.length, rows(), (t, n) => {
          const [reader, writer] = run.steps[t].state.heads;
          return reader.weights[n] > writer.weights[n] ? [ORANGE, reader.weights[n]] : [BLUE, writer.weights[n]];
        });
        const step = Math.min(state.step, run.steps.length - 1),
          line = slider(
            "Step",
            { from: 0, to: run.steps.length - 1, step: 1, value: step, shown: (n) => n + 1 + " of " + run.steps.length },
            show,
          );
        const by = (count) => () => {
          const next = Math.max(0, Math.min(run.steps.length - 1, state.step + count));
          line.set(next);
          show(next);
        };
        controls.replaceChildren(
          line,
          buttons(
            ["One step", by(1)],
            ["One back", by(-1)],
            [
              "To the end mark",
              () => {
                line.set(state.text.length);
                show(state.text.length);
              },
            ],
          ),
        );
        show(step);
      }

      const line = entry(
        "A text of up to 120 letters",
        { value: state.text, most: 120, button: "Copy", examples: LIVE.tapeTexts },
        (text) => {
          const strange = [...new Set(Array.from(text).filter((letter) => letter.charCodeAt(0) > 255))];
          if (!text) {
            return "Please write at least one letter.";
          }
          if (strange.length) {
            return "The machine reads eight bits per letter, and these have more: " + strange.join(" ") + ".";
          }
          kept({ text, step: 0 });
          copy();
          return "";
        },
      );
      room.append(
        line.element,
        choice(
          "Rows of memory",
          [64, ROWS, 256].map((n) => [n, String(n)]),
          state.rows,
          (rows) => {
            kept({ rows });
            copy();
          },
        ),
        answer,
        count,
        controls,
        make(
          "div",
          { class: "live-view live-view-tape" },
          make(
            "div",
            {},
            make("p", { class: "live-head" }, "Memory with both heads: rows, the marked number is the head’s"),
            beside(memory, 0),
          ),
          make("div", {}, make("p", { class: "live-head" }, "Heads over time, by rows: write blue, read orange"), beside(track, 1)),
        ),
        said.element,
      );
      copy();
    },
  });
})(globalThis);
