// A sentence in the Transformer of chapter 18: its pieces, what is written, and all weights.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { largest, make, softmax } = LIVE;

  // A piece as it is shown: a piece that continues a word begins with a dash.
  LIVE.shownPiece = (piece) => (piece.startsWith("▁") ? piece.slice(1) || "␣" : /^[\p{L}\p{N}]/u.test(piece) ? "‑" + piece : piece);

  // A small picture of a map of weights.
  LIVE.thumbnail = function (weights) {
    const columns = Math.max(...weights.map((row) => row.length)),
      canvas = make("canvas", { width: columns, height: weights.length, "aria-hidden": "true" });
    const pen = canvas.getContext("2d");
    weights.forEach((row, q) =>
      row.forEach((w, k) => {
        pen.fillStyle = "rgba(64, 132, 214, " + Math.min(1, w).toFixed(3) + ")";
        pen.fillRect(k, q, 1, 1);
      }),
    );
    return canvas;
  };

  // [step][layer][head][key] -> [layer][head][step][key]
  const byHead = (steps) => steps[0].map((heads, layer) => heads.map((_, head) => steps.map((step) => step[layer][head])));

  // What the encoder makes of a sentence.
  LIVE.readIn = (model, source, sentence) => model.start(source.numbers(source.encode(sentence)));

  // All about one sentence: pieces, translation, weights [kind][layer][head][query][key], and the likeliest next pieces. What the
  // encoder has read before can be given as `start`.
  LIVE.translation = function (model, source, target, sentence, width, start = LIVE.readIn(model, source, sentence)) {
    const pieces = source.encode(sentence),
      { tokens, steps, score } = LIVE.write(model, start, { width });
    const options = steps.map((step) => {
      const chances = softmax(step.logits);
      return largest(chances, 5).map((number) => [number === LIVE.EOS ? "▁(end)" : target.pieces[number], chances[number]]);
    });
    const out = tokens.map((token) => target.pieces[token]);
    return {
      source: pieces,
      target: [...out, "▁(end)"].slice(0, steps.length), // a text that is too long has no end
      read: ["▁(begin)", ...out].slice(0, steps.length),
      text: target.decode(out),
      score,
      options,
      weights: { cross: byHead(steps.map((step) => step.cross)), self: byHead(steps.map((step) => step.self)), encoder: start.encoder },
    };
  };

  // The mean of several heads' maps.
  LIVE.meanMap = (maps) => maps[0].map((row, q) => row.map((_, k) => maps.reduce((sum, map) => sum + map[q][k], 0) / maps.length));
})(globalThis);
