// What a captioner of chapter 6 writes, and how two captions are read side by side: digit beside digit, relation beside relation.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { largest, softmax } = LIVE;
  const WORDS = "<pad> <bos> <eos> a an zero one two three four five six seven eight nine above left right of".split(" "),
    ORDER = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

  LIVE.digitName = (digit) => WORDS[digit + 5];

  LIVE.captioned = function (model, image, start = model.start(image, LIVE.CANVAS.SIDE)) {
    let state = start,
      token = LIVE.BOS;
    const steps = [];
    while (steps.length < 20 && token !== LIVE.EOS) {
      const step = model.step(token, state);
      state = step.state;
      [token] = largest(step.logits, 1);
      const word = token === LIVE.EOS ? "(end)" : WORDS[token];
      steps.push({ word, weights: step.weights, location: step.location, chance: softmax(step.logits)[token] });
    }
    return steps;
  };

  // The caption without its end.
  LIVE.captionOf = (steps) =>
    steps
      .map((step) => step.word)
      .filter((word) => word !== "(end)")
      .join(" ");

  // The place of each word in a caption "a two left of a six above an eight": article 0, digit 1, relation 2 (its "of" 2.5), article
  // 3, … Words with the same place in two captions do the same work, however long the relations are.
  LIVE.placesOf = function (words) {
    let place = -1;
    return words.map((word) => (word === "of" ? place + 0.5 : ++place));
  };

  // Which word of a caption stands at a place; of a relation without "of" its one word. −1 if the caption ends before.
  LIVE.wordAt = (words, place) => {
    const places = LIVE.placesOf(words),
      exact = places.indexOf(place);
    return exact < 0 ? places.indexOf(Math.floor(place)) : exact;
  };

  // A place in words.
  LIVE.placeInWords = function (place) {
    const number = Math.floor(place / 3);
    return [
      "the article of the " + ORDER[number] + " digit",
      "the " + ORDER[number] + " digit",
      "what comes between the " + ORDER[number] + " and the " + ORDER[number + 1] + " digit",
    ][Math.floor(place) % 3];
  };
})(globalThis);
