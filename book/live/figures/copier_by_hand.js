// The copier of Chapter 17, whose weights are chosen by hand: two layers of attention with rotary positions.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, refill, slider, choice, words, dot, softmax, largest, signed } = LIVE;
  const STRING = "thequickbrownfoxjumpsover",
    ALPHABET = "abcdefghijklmnopqrstuvwxyz|",
    TRAINED = [2, 12], // the string lengths of training
    SPEEDS = Array.from({ length: 8 }, (_, i) => 10000 ** (-i / 8)); // how far each pair turns per position, in radians
  const FASTEST = [
    ["slowed", "is slowed with the others"],
    ["kept", "keeps its speed"],
  ];
  const WIDTH = 640,
    HEIGHT = 150,
    LEFT = 60, // room for the scores beside the curve
    FAR = 30; // the greatest distance that is drawn

  const oneHot = (text) => Array.from(text, (letter) => Array.from(ALPHABET, (one) => Number(one === letter)));

  // What a head of the first layer brings to each position: most of the letter that stands so many positions back.
  function brought(x, back, { first, fastest }) {
    const scales = SPEEDS.map((_, pair) => (fastest === "kept" && pair === 0 ? 1 : first)),
      scores = x.map((_, d) => 20 * SPEEDS.reduce((sum, speed, pair) => sum + Math.cos(speed * (scales[pair] * d - back)), 0));
    return x.map((_, at) => {
      const weights = softmax(x.slice(0, at + 1).map((_, key) => scores[at - key]));
      return ALPHABET.split("").map((_, letter) => weights.reduce((sum, weight, key) => sum + weight * x[key][letter], 0));
    });
  }

  const preferenceAt = (d, { strength, peak, second }) => strength * Math.cos(SPEEDS[2] * (second * d - peak));

  // The second layer's scores of all keys for the last position of a text, in their two parts, and its weights.
  LIVE.attendByHand = function (text, how) {
    const x = oneHot(text),
      [one, two, three] = [1, 2, 3].map((back) => brought(x, back, how)),
      last = x.length - 1;
    const content = x.map((_, key) => 4 * dot(one[key], x[last]) + 2 * dot(two[key], one[last]) + dot(three[key], two[last])),
      preference = x.map((_, key) => preferenceAt(last - key, how));
    return { content, preference, weights: softmax(content.map((score, key) => score + preference[key])) };
  };

  // What it writes for a string: each time the letter with the most weight, and never a separator.
  LIVE.writeByHand = function (string, how) {
    let text = "|" + string + "|";
    for (let step = 0; step < string.length; step++) {
      const { weights } = LIVE.attendByHand(text, how),
        shares = Array(ALPHABET.length).fill(0);
      weights.forEach((weight, key) => (shares[ALPHABET.indexOf(text[key])] += weight));
      text += ALPHABET[largest(shares.slice(0, -1), 1)[0]]; // the separator stands last
    }
    return text.slice(string.length + 2);
  };

  function curve(state) {
    const x = (d) => LEFT + ((WIDTH - LEFT - 20) * d) / FAR,
      most = Math.max(state.strength, 1),
      y = (score) => HEIGHT / 2 - (score / most) * (HEIGHT / 2 - 14),
      number = (score) => make("text", { x: 0, y: y(score) + 5 }, signed(score, Number.isInteger(score) ? 0 : 1));
    const points = Array.from({ length: 4 * FAR + 1 }, (_, i) => x(i / 4).toFixed(1) + "," + y(preferenceAt(i / 4, state)).toFixed(1)).join(
      " ",
    );
    return make(
      "svg",
      {
        viewBox: [0, 0, WIDTH, HEIGHT + 28].join(" "),
        class: "live-curve",
        role: "img",
        "aria-label": "Preference by distance; the right letter stands " + state.letters + " positions back",
      },
      make("rect", { x: x(TRAINED[0] - 0.5), y: 0, width: x(TRAINED[1] + 0.5) - x(TRAINED[0] - 0.5), height: HEIGHT, class: "rewarded" }),
      make("line", { x1: x(0), x2: x(FAR), y1: y(0), y2: y(0), class: "axis" }),
      make("polyline", { points }),
      make("circle", { cx: x(state.letters), cy: y(preferenceAt(state.letters, state)), r: 7 }),
      [most, 0, -most].map(number),
      [0, ...TRAINED, 25].map((d) => make("text", { x: x(d), y: HEIGHT + 22, "text-anchor": "middle" }, String(d))),
    );
  }

  const firstWrong = (string, written) => Array.from(string).findIndex((letter, i) => written[i] !== letter);

  // The right key of the first step that goes wrong, or of the first step, beside the keys with the largest scores there.
  function rows(string, written, state) {
    const wrong = firstWrong(string, written),
      step = Math.max(wrong, 0),
      text = "|" + string + "|" + written.slice(0, step);
    const { content, preference, weights } = LIVE.attendByHand(text, state),
      keys = weights.map((_, key) => key).filter((key) => text[key] !== "|");
    const largest = keys.sort((a, b) => weights[b] - weights[a]).slice(0, 4),
      right = step + 1;
    const shown = largest.includes(right) ? largest : [...largest.slice(0, 3), right];
    return LIVE.bars(
      "Letter " + (step + 1) + (wrong < 0 ? "" : ", the first wrong one") + ": weight, and score = content + preference",
      shown.map((key) => [
        text[key] + ", " + (text.length - 1 - key) + " back" + (key === right ? " (right)" : ""),
        weights[key],
        signed(content[key] + preference[key], 1) +
          " = " +
          signed(content[key], 1) +
          " + " +
          signed(preference[key], 1).replace(/^(−.*)$/, "($1)"),
      ]),
    );
  }

  LIVE.figure("copier_by_hand", {
    title: "A copier by hand",
    todo: "The copier begins with a wrong letter. Slow the second layer: from where on is the whole string right, and does it fail again if you go further? Set the second layer back to 1, and move the middle of the preference to 12: is this enough? Then take the preference away (strength 0), and slow the first layer alone: first all of its pairs, then all but the fastest.",
    learned:
      "From × 0.60 on the whole string is right, and it stays right however far you go: the content needs no angles, so slower positions only make the preference flatter. Another middle moves the preference, but a right letter that is 25 positions back still has no advantage over nearer ones. Without a preference no distance misleads the second layer. The first layer needs its distances: down to × 0.70 its heads still find the letters just before, but below they find earlier ones, and the copier leaves letters out. If its fastest pair keeps its speed, the others may be slowed to × 0.30. Below, letters six positions farther back score too much, because there the fastest pair has made nearly a whole turn.",
    about:
      "Nothing is trained here: these are the weights that the chapter chooses by hand. The string is the first letters of “thequickbrownfoxjumpsover”. The curve is the preference by distance; shaded are the distances that were right in training, and the point is the distance of the right letter.",
    defaults: { letters: 25, strength: 6, peak: 7, first: 1, fastest: "slowed", second: 1 },
    draw(room, state, kept) {
      const said = words(),
        line = make("p", { class: "live-text" }),
        given = make("p", { class: "live-before" }),
        board = make("div", {});

      function show() {
        const string = STRING.slice(0, state.letters),
          written = LIVE.writeByHand(string, state);
        given.textContent = "Given: " + string + ". Written:";
        line.textContent = written;
        refill(board, rows(string, written, state), make("p", { class: "live-head" }, "Preference by distance"), curve(state));
        const wrong = firstWrong(string, written),
          there =
            wrong < 0 ? "" : "“" + written[wrong] + "” for “" + string[wrong] + "”, which stands " + string.length + " positions back.";
        said.say(
          wrong < 0
            ? "All " + string.length + " letters are right."
            : wrong === 0
              ? "Already the first letter is wrong: " + there
              : "Right so far: " + string.slice(0, wrong) + ". Then the copier writes " + there,
        );
      }
      const dial = (name, key, from, to, step, shown) =>
        slider(name, { from, to, step, value: state[key], shown }, (value) => {
          kept({ [key]: value });
          show();
        });
      const times = (value) => "× " + value.toFixed(2);
      room.append(
        dial("Letters", "letters", TRAINED[0], STRING.length, 1),
        dial("Strength of the preference", "strength", 0, 12, 0.5, (value) => value.toFixed(1)),
        dial("Middle of the preference", "peak", 2, 16, 1),
        dial("First layer: positions", "first", 0.25, 1, 0.05, times),
        choice("Its fastest pair", FASTEST, state.fastest, (fastest) => {
          kept({ fastest });
          show();
        }),
        dial("Second layer: positions", "second", 0.05, 1, 0.05, times),
        given,
        line,
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
