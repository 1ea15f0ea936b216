// Beam search (chapter 10), of which greedy search is the beam of one.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { logSoftmax, largest } = LIVE;
  const BOS = 1,
    EOS = 2;

  // A generator that stops after each step with what was kept, best first, and all that was considered. Each is
  // { tokens, total (log-probability), rank (total by the length penalty of Wu et al. 2016), ended, parent, gained, last }.
  LIVE.beamSteps = function* (model, start, { width = 5, alpha = 0.6, most = 60, bos = BOS, eos = EOS } = {}) {
    const rank = (total, size) => total / ((5 + size) / 6) ** alpha;
    const grown = (one, parent, token, gained, state) => {
      const tokens = one.ended ? one.tokens : one.tokens.concat([token]),
        total = one.total + gained;
      return { tokens, total, rank: rank(total, tokens.length), ended: one.ended || token === eos, state, last: token, parent, gained };
    };
    let kept = [{ tokens: [], total: 0, rank: 0, ended: false, state: start, last: bos }];
    for (let t = 0; t < most && !kept.every((one) => one.ended); t++) {
      const considered = kept
        .flatMap((one, parent) => {
          if (one.ended) {
            return [grown(one, parent, eos, 0, one.state)];
          }
          const found = model.step(one.last, one.state),
            logs = logSoftmax(found.logits);
          const possible = largest(logs, width).filter((token) => logs[token] > -Infinity);
          return possible.map((token) => grown(one, parent, token, logs[token], found.state));
        })
        .sort((a, b) => b.rank - a.rank);
      kept = considered.slice(0, width);
      yield { kept, considered };
    }
  };

  // The best text: { tokens without the end, score, kept }.
  LIVE.write = function (model, start, options = {}) {
    let last = { kept: [] };
    for (const step of LIVE.beamSteps(model, start, options)) {
      last = step;
    }
    const [best] = last.kept,
      end = best.tokens.indexOf(options.eos === undefined ? EOS : options.eos);
    return { tokens: end < 0 ? best.tokens : best.tokens.slice(0, end), score: best.rank, kept: last.kept };
  };

  Object.assign(LIVE, { BOS, EOS });
})(globalThis);
