// Byte pairs (chapter 9's lab): words into pieces by learnt merges, as utils/attnbook/data/texts/byte_pairs.py does.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    MARK = "▁",
    UNKNOWN = "\uFFFD",
    SPECIAL = ["<pad>", "<bos>", "<eos>"];
  const WORDS = /▁?[\p{L}\p{N}_]+|▁?[^\p{L}\p{N}_▁]|▁/gu;

  // `saved`: letters, and merges such as "▁d as", the first learnt first.
  LIVE.BytePairs = function (saved) {
    const ranks = new Map(saved.merges.map((merge, rank) => [merge, rank]));
    const pieces = [...SPECIAL, UNKNOWN, ...saved.letters, ...new Set(saved.merges.map((merge) => merge.replace(" ", "")))];
    const numbers = new Map(pieces.map((piece, number) => [piece, number]));

    // The neighbours whose merge was learnt first, or null.
    function firstPair(symbols) {
      let best = Infinity,
        pair = null;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const rank = ranks.get(symbols[i] + " " + symbols[i + 1]);
        if (rank < best) {
          [best, pair] = [rank, [symbols[i], symbols[i + 1]]];
        }
      }
      return pair;
    }

    function merged(symbols, [left, right]) {
      const out = [];
      for (let i = 0; i < symbols.length; i++) {
        const both = symbols[i] === left && symbols[i + 1] === right;
        out.push(both ? left + right : symbols[i]);
        i += both ? 1 : 0;
      }
      return out;
    }

    function split(word) {
      let symbols = Array.from(word, (letter) => (numbers.has(letter) ? letter : UNKNOWN));
      for (let pair = firstPair(symbols); pair; pair = firstPair(symbols)) {
        symbols = merged(symbols, pair);
      }
      return symbols;
    }

    return {
      pieces,
      encode: (text) => ((MARK + text.trim().split(/\s+/).join(MARK)).match(WORDS) || []).flatMap(split),
      numbers: (found) => found.map((piece) => numbers.get(piece)),
      decode: (found) => found.join("").replaceAll(MARK, " ").replace(/^ /, ""),
      cut: (text) => (text.match(/\p{L}+/gu) || []).filter((word) => (MARK + word).match(WORDS).flatMap(split).length > 1),
      unknown: (text) => [...new Set(Array.from(text).filter((letter) => letter.trim() && !numbers.has(letter)))],
    };
  };

  // What may go wrong with a text that a model reads in these pieces, in sentences; empty if nothing. A vocabulary learned from
  // captions has the usual words of captions whole, so one that cuts a third of the words has hardly read such texts.
  LIVE.doubts = function (pairs, text) {
    const quoted = (all) => all.map((one) => "“" + one + "”").join(", "),
      unknown = pairs.unknown(text),
      words = text.match(/\p{L}+/gu) || [],
      cut = pairs.cut(text);
    return [
      unknown.length ? "The model has never seen " + quoted(unknown) + " and reads an unknown character instead." : "",
      cut.length && 3 * cut.length >= words.length
        ? "The model was trained on German captions of photographs and has hardly read " +
          quoted(cut.slice(0, 3)) +
          (cut.length > 3 ? " and other words here" : "") +
          ": it cuts words that it hardly knows into pieces, and may translate them badly."
        : "",
    ]
      .filter(Boolean)
      .join(" ");
  };
})(globalThis);
