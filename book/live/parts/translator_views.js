// What the translator is drawn with: its examples, recorded translations of the chapter’s other models, pictures of its heads, and words.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {}),
    { make, refill } = LIVE;
  const MODELS = ["plain", "Bahdanau", "Luong", "GNMT"];
  LIVE.RECORDED = {
    "Leute Reparieren das Dach eines Hauses.": [
      "People are outside a house.",
      "People are standing on the roof of a house.",
      "People are enjoying the roof of a house.",
      "People are building the roof of a house.",
    ],
    "Ein sitzender Mann, der an einem Tisch in seinem Haus mit einem Werkzeug arbeitet.": [
      "A man sitting at a table with his house in a restaurant.",
      "A man sitting on a table in a house with a tool.",
      "A man sitting at a table in his house with a tool.",
      "A man sitting on a table with a tool in his house with a tool.",
    ],
    "Eine Frau in einem Grauen Pulli und mit einer schwarzen Baseballmütze steht in einem Geschäft in der Schlange.": [
      "A woman in a black tank top and a baseball cap is standing in the middle of a train.",
      "A woman in a gray tank top and a black baseball cap stands in a store.",
      "A woman in a gray tank top and black baseball cap is standing in the line at a store.",
      "A woman in a gray tank top and a black baseball cap is standing in a store.",
    ],
  };

  // The four translations as a table, or nothing for a sentence of the reader's own.
  LIVE.otherModels = (sentence) =>
    LIVE.RECORDED[sentence] &&
    make(
      "table",
      { class: "live-table" },
      make("caption", { class: "live-before", style: "text-align:left" }, "Four other models, trained on the same captions, wrote"),
      make(
        "tbody",
        {},
        LIVE.RECORDED[sentence].map((text, i) => make("tr", {}, make("th", { scope: "row" }, MODELS[i]), make("td", { lang: "en" }, text))),
      ),
    );

  // Examples, [name, text] each, in a box of one tab stop; the one that is translated is marked.
  LIVE.namedExamples = function (box, offered, sentence, take) {
    const at = offered.findIndex(([, text]) => text === sentence);
    const example = ([name, text], i) =>
      make(
        "button",
        {
          type: "button",
          title: text,
          "aria-pressed": String(i === at),
          tabindex: i === Math.max(at, 0) ? 0 : -1,
          onclick: () => take(text),
        },
        name,
      );
    refill(box, "Examples: ", ...offered.map(example));
  };

  // Where a translation first differs from a similar one before it (-1: nowhere), and what stood there with which probability.
  LIVE.differing = function (old, found) {
    const alike = found.target.filter((piece) => old.target.includes(piece)).length > 0.7 * found.target.length,
      at = found.target.findIndex((piece, i) => piece !== old.target[i]),
      was = at < 0 ? undefined : old.options[at]?.find(([piece]) => piece === old.target[at]);
    if (!alike || !was) {
      return { at: Math.min(at, 0), told: "" };
    }
    const stood = "“" + LIVE.shownPiece(was[0]) + "” with a probability of " + LIVE.percent(was[1]);
    return { at, told: "Before: “" + old.text + "” The first piece that differs is chosen below. There it wrote " + stood + " before." };
  };

  // Pictures of all heads, one row per layer, its mean first. `of(layer, head)` says of each its name, whether it is chosen or
  // off, what is written instead without it, and what a press does.
  LIVE.headGrid = function (box, maps, of) {
    const picture = (map, layer, head) => {
      const { name, off, instead, chosen, choose } = of(layer, head);
      return make(
        "button",
        {
          type: "button",
          class: (head < 0 ? "is-mean" : "") + (off ? " is-off" : "") + (instead ? " is-needed" : ""),
          "aria-label": name + (off ? ", switched off" : "") + (instead ? "; without it: " + instead : ""),
          "aria-pressed": String(chosen),
          tabindex: chosen ? 0 : -1,
          title: instead ? "Without it: " + instead : null,
          onclick: choose,
        },
        LIVE.thumbnail(map),
        make("span", { style: "line-height: 1.3; font-size: 0.78rem", "aria-hidden": "true" }, head < 0 ? "all" : head + 1),
      );
    };
    const row = (heads, layer) => [
      make("span", { class: "live-head", style: "grid-column: 1 / -1; margin: 0" }, "Layer " + (layer + 1)),
      ...[LIVE.meanMap(heads), ...heads].map((map, i) => picture(map, layer, i - 1)),
    ];
    refill(box, ...maps.flatMap(row));
  };

  // How many of all heads change the translation, each switched off beside those that are off.
  LIVE.trialTold = (changed, all, off) =>
    changed +
    " of these " +
    all +
    " heads, switched off " +
    (off ? "as well, " : "alone, ") +
    (changed === 1
      ? "changes the translation. It is marked with a dot; press it to read what is written without it."
      : "change the translation." + (changed ? " They are marked with a dot; press one to read what is written without it." : ""));

  // The likeliest pieces where a piece was written; nothing where none was (-1).
  LIVE.optionBars = function (box, found, at) {
    const rows = (found.options[at] || []).map(([piece, chance]) => [
      LIVE.shownPiece(piece) + (piece === found.target[at] ? " (written)" : ""),
      chance,
      LIVE.percent(chance),
    ]);
    refill(box, rows.length ? LIVE.bars("What it could have written here", rows) : null);
  };
})(globalThis);
