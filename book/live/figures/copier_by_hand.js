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
    MIDDLE = 92, // where the curve is 0
    HALF = 62, // from there to the largest preference
    FOOT = 168, // the lower end of the curve's ground
    LEFT = 60, // room for the scores beside the curve
    FAR = 30; // the greatest distance that is drawn
  const DEFAULTS = { letters: 25, strength: 6, peak: 7, first: 1, fastest: "slowed", second: 1 };

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

  // The first step that goes wrong, or the first step: the letters with the most weight there, and the right one. What is
  // written is the letter with the most weight in all its places together: { letter, weight, places, right } each.
  function atStep(string, written, state) {
    const wrong = Array.from(string).findIndex((letter, i) => written[i] !== letter),
      step = Math.max(wrong, 0),
      text = "|" + string + "|" + written.slice(0, step);
    const { content, preference, weights } = LIVE.attendByHand(text, state),
      found = new Map();
    weights.forEach((weight, key) => {
      const letter = text[key];
      if (letter !== "|") {
        const one = found.get(letter) || { letter, weight: 0, places: [], right: letter === string[step] };
        one.weight += weight;
        one.places.push({ weight, back: text.length - 1 - key, content: content[key], preference: preference[key] });
        found.set(letter, one);
      }
    });
    const letters = Array.from(found.values()).sort((a, b) => b.weight - a.weight);
    letters.forEach((one) => one.places.sort((a, b) => b.weight - a.weight));
    const shown = letters.slice(0, 4);
    return { wrong, step, shown: shown.some((one) => one.right) ? shown : [...shown.slice(0, 3), letters.find((one) => one.right)] };
  }

  const placesOf = ({ places }) =>
    places.length > 2 ? places.length + " positions" : places.map(({ back }) => back).join(" and ") + " back";

  function rows({ wrong, step, shown }) {
    const sum = ({ content, preference }) => content + preference,
      first = shown.map(({ places }) => signed(sum(places[0]), 1));
    const part = (number, digits) => signed(number, digits).replace(/^(−.*)$/, "($1)");
    const score = ({ places }, row) => {
      const [{ content, preference }] = places,
        tied = first.some((other, n) => n !== row && other === first[row]),
        tenths = (number) => Math.round(10 * number);
      const digits = tied || tenths(content) + tenths(preference) !== tenths(content + preference) ? 2 : 1;
      return (
        (places.length > 1 ? "largest: " : "") +
        signed(content + preference, digits) +
        " = " +
        signed(content, digits) +
        " + " +
        part(preference, digits)
      );
    };
    return LIVE.bars(
      "Letter " + (step + 1) + (wrong < 0 ? "" : ", the first wrong one") + ": weights (bars), and score = content + preference",
      shown.map((one, row) => [one.letter + ", " + placesOf(one) + (one.right ? " (right)" : ""), one.weight, score(one, row)]),
    );
  }

  // The preference by distance, with the right letter and the one that is written instead.
  function curve(state, { wrong, shown }) {
    if (state.strength === 0) {
      return [make("p", { class: "live-before" }, "No preference: a distance adds nothing to the scores.")];
    }
    const x = (d) => LEFT + ((WIDTH - LEFT - 20) * d) / FAR,
      most = state.strength,
      y = (score) => MIDDLE - (score / most) * HALF,
      at = (d) => y(preferenceAt(d, state));
    const number = (score) => make("text", { x: 0, y: y(score) + 5 }, signed(score, Number.isInteger(score) ? 0 : 1));
    const points = Array.from({ length: 4 * FAR + 1 }, (_, i) => x(i / 4).toFixed(1) + "," + at(i / 4).toFixed(1)).join(" ");
    const marked = (d, letter, look) => [
      make("circle", { cx: x(d), cy: at(d), r: 7, class: look }),
      make("text", { x: x(d), y: at(d) - 13, "text-anchor": "middle" }, letter),
    ];
    const right = shown.find((one) => one.right),
      written = wrong < 0 ? null : shown[0];
    const says =
      "Preference by distance; “" +
      right.letter +
      "” (right) stands " +
      state.letters +
      " back" +
      (written ? ", “" + written.letter + "” (written) " + written.places.map(({ back }) => back).join(", ") + " back" : "");
    return [
      make("p", { class: "live-head" }, "Preference by distance (positions back)"),
      make(
        "svg",
        { viewBox: [0, 0, WIDTH, FOOT + 28].join(" "), class: "live-curve", role: "img", "aria-label": says },
        make("rect", { x: x(TRAINED[0] - 0.5), y: 0, width: x(TRAINED[1] + 0.5) - x(TRAINED[0] - 0.5), height: FOOT, class: "rewarded" }),
        make("line", { x1: x(0), x2: x(FAR), y1: y(0), y2: y(0), class: "axis" }),
        make("polyline", { points }),
        written && written.places.filter(({ back }) => back <= FAR).flatMap(({ back }) => marked(back, written.letter, "summed")),
        marked(state.letters, right.letter, null),
        [most, 0, -most].map(number),
        [...TRAINED, 20, FAR].map((d) => make("text", { x: x(d), y: FOOT + 24, "text-anchor": "middle" }, String(d))),
      ),
      make("p", { class: "live-before" }, "Orange: the right letter" + (written ? "; blue: the letter that is written" : "") + "."),
    ];
  }

  LIVE.figure("copier_by_hand", {
    title: "A copier by hand",
    todo: "Guess from where on the whole string is right if you slow the second layer, and how far you may then slow the first.",
    learned:
      "From × 0.60 of the second layer on the whole string is right, and it stays right however far you go: the content needs no angles, so slower positions only make the preference flatter. The first layer needs its distances. With the second layer at × 0.50 it may be slowed to × 0.70; below, its heads find earlier letters than those just before, and the copier leaves letters out. If its fastest pair keeps its speed, the others may be slowed to × 0.25.",
    about:
      "Nothing is trained: the chapter chose these weights by hand. A bar adds up the weights of all positions of its letter. Shaded are the distances that were right in training.",
    defaults: DEFAULTS,
    draw(room, state, kept) {
      const said = words(),
        line = make("p", { class: "live-text" }),
        given = make("p", { class: "live-before" }),
        board = make("div", {});

      function show() {
        const string = STRING.slice(0, state.letters),
          written = LIVE.writeByHand(string, state),
          found = atStep(string, written, state),
          { wrong, shown } = found;
        given.textContent = "Given: " + string + ". Written:";
        line.replaceChildren(
          ...(wrong < 0 ? [written] : [written.slice(0, wrong), make("mark", {}, written[wrong]), written.slice(wrong + 1)]),
        );
        refill(board, rows(found), ...curve(state, found));
        const several = shown[0].places.length,
          there =
            wrong < 0
              ? ""
              : "“" +
                written[wrong] +
                "”" +
                (several > 1 ? " (" + several + " positions, whose weights add up)" : "") +
                " for “" +
                string[wrong] +
                "”, which stands " +
                string.length +
                " positions back.";
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
        dial("Second layer: positions", "second", 0.05, 1, 0.05, times),
        dial("First layer: positions", "first", 0.25, 1, 0.05, times),
        choice("First layer’s fastest pair", FASTEST, state.fastest, (fastest) => {
          kept({ fastest });
          show();
        }),
        given,
        line,
        said.element,
        board,
      );
      show();
    },
  });
})(globalThis);
