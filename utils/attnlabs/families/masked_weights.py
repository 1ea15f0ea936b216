"""What goes wrong in a softmax with masked positions (lab 2), or in attention (lab 3): edits of either reference."""

from misread.exercise import Mistakes

CLOSE, CLEAN = ".masked_fill(closed, -torch.inf)", ".masked_fill(closed, 0.0)"

wrong = CLOSED_WRONGLY = Mistakes()
wrong("softmax over the queries", {"softmax(-1)": "softmax(-2)"}).says("""
    Your weights sum to 1 over the *queries*. Each query must distribute a weight of 1 among the *keys*, so the
    softmax runs over the last axis.""")
wrong("NaN where all is closed", {CLEAN: ""}).says("""
    A row in which no position may be attended to became NaN, because the softmax of nothing but −∞ is 0 / 0. Replace
    its weights by zeros after the softmax, or a single row of this kind spoils the training.""")
wrong("mask the wrong way round", {"~mask": "mask"}).says("""
    You masked the positions where the mask is True. In this book True means that a position *may be attended to*, so
    −∞ belongs where the mask is False, which is `~mask`.""")
wrong("mask the wrong way round, and NaN", {"~mask": "mask", CLEAN: ""}).says("""
    You filled the scores with −∞ where the mask is True. True means that a position *may be attended to*, so −∞
    belongs where the mask is False, which is `~mask`. Rows without any True need zeros after the softmax.""")
wrong("a large number, not minus infinity", {"-torch.inf": "-1e9", CLEAN: ""}).says("""
    You filled the masked positions with a large negative number such as −1e9. In a row in which everything is masked,
    the softmax then distributes the weight among the masked positions. All weights of such a row must be 0.""")
wrong("zeroed after the softmax", {CLOSE: ""}).says("""
    You took the softmax over all positions and set the masked ones to zero afterwards. They had received a part of
    the weight by then, so the rest sums to less than 1. Fill the masked scores with −∞ *before* the softmax, and keep
    what `masked_fill` returns, which is a new tensor.""")
wrong("the largest may be closed", {f"scores{CLOSE}": "F.normalize(scores", CLEAN: f"{CLEAN}, 1, -1, 1e-30)"}).says("""
    You set the masked positions to zero after the exponential (or the softmax), and normalised then. Where a masked
    score is far above the others, its exponential is ∞, or theirs are rounded to 0 beside it, and nothing is left to
    normalise. Fill the masked scores with −∞ before the softmax.""")
wrong("score 0 is not closed", {CLEAN: "", CLOSE: CLEAN}).says("""
    You set the masked scores to 0 (or multiplied by the mask) before the softmax. Since exp(0) is 1 and not 0, the
    masked positions still receive weight. Their score must be −∞.""")
wrong("score 0 is not closed, then zeroed", {CLOSE: ".masked_fill(closed, 0.0)"}).says("""
    You set the masked scores to 0 (or multiplied by the mask) before the softmax, and their weights to 0 after it. A
    score of 0 takes its share, exp(0) = 1, so the rest sums to less than 1. Their score must be −∞.""")
