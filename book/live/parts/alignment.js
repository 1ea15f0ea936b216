// What Bahdanau's model writes, step by step, and what it writes if the reader sets a weight by hand.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { largest, softmax } = LIVE;

  // Weights of which one is set by hand, and the others keep their proportions.
  LIVE.byHand = function (weights, key, share) {
    const others = 1 - weights[key],
      even = 1 / (weights.length - 1);
    return weights.length === 1 ? weights : weights.map((w, k) => (k === key ? share : (1 - share) * (others > 1e-6 ? w / others : even)));
  };

  // What the model writes greedily. `forced`: { step, key, share }, where the reader sets the weight of one source word. `only(key)`:
  // the token of a step if this source word had all the weight.
  LIVE.aligned = function (model, source, forced) {
    let state = model.start(source),
      token = LIVE.BOS;
    const steps = [];
    while (token !== LIVE.EOS && steps.length < 60) {
      const [before, from] = [token, state];
      let step = model.step(token, state);
      if (forced && forced.step === steps.length) {
        step = model.step(token, state, LIVE.byHand(step.weights, forced.key, forced.share));
      }
      state = step.state;
      [token] = largest(step.logits, 1);
      const weights = Array.from(step.weights),
        only = (key) => largest(model.step(before, from, LIVE.byHand(weights, key, 1)).logits, 1)[0];
      steps.push({ token, weights, chances: softmax(step.logits), only });
    }
    return steps;
  };
})(globalThis);
