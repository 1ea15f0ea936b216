// Beam search (chapter 10), of which greedy search is the beam of one.
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  const { logSoftmax, largest, BOS, EOS } = LIVE;

  // A generator that stops after each step with what was kept, best first, and all that was considered. Each is
  // { tokens, steps (what the model gave for each), total (log-probability), rank (total by the length penalty of Wu et al.
  // 2016), ended, parent, gained, last }.
  LIVE.beamSteps = function* (model, start, { width = 5, alpha = 0.6, most = 60, bos = BOS, eos = EOS } = {}) {
    const rank = (total, size) => total / ((5 + size) / 6) ** alpha;
    const grown = (one, parent, token, gained, found) => {
      const tokens = one.tokens.concat([token]),
        total = one.total + gained,
        steps = one.steps.concat([found]);
      return {
        tokens,
        steps,
        total,
        rank: rank(total, tokens.length),
        ended: token === eos,
        state: found.state,
        last: token,
        parent,
        gained,
      };
    };
    let kept = [{ tokens: [], steps: [], total: 0, rank: 0, ended: false, state: start, last: bos }];
    for (let t = 0; t < most && !kept.every((one) => one.ended); t++) {
      const open = kept.filter((one) => !one.ended),
        all = model.steps(
          open.map((one) => one.last),
          open.map((one) => one.state),
        );
      const considered = kept
        .flatMap((one, parent) => {
          if (one.ended) {
            return [{ ...one, parent, gained: 0 }];
          }
          const found = all[open.indexOf(one)],
            logs = logSoftmax(found.logits);
          const possible = largest(logs, width).filter((token) => logs[token] > -Infinity);
          return possible.map((token) => grown(one, parent, token, logs[token], found));
        })
        .sort((a, b) => b.rank - a.rank);
      kept = considered.slice(0, width);
      yield { kept, considered };
    }
  };

  // The best text: { tokens without the end, steps (the end's included), score, kept }.
  LIVE.write = function (model, start, options = {}) {
    let last = { kept: [] };
    for (const step of LIVE.beamSteps(model, start, options)) {
      last = step;
    }
    const [best] = last.kept,
      end = best.tokens.indexOf(options.eos === undefined ? EOS : options.eos);
    return { tokens: end < 0 ? best.tokens : best.tokens.slice(0, end), steps: best.steps, score: best.rank, kept: last.kept };
  };
})(globalThis);
