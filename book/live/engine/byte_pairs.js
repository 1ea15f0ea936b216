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
      unknown: (text) => [...new Set(Array.from(text).filter((letter) => letter.trim() && !numbers.has(letter)))],
    };
  };
})(globalThis);
