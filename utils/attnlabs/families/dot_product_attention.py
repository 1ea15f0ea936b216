"""What goes wrong in scaled dot-product attention with one head (lab 7) or with many (lab 8): edits of either
reference. Both write the same three lines, for q, k, scores, closed and weights."""

from misread.exercise import Mistakes

_CLOSE = '.masked_fill(closed, float("-inf"))'
_MASKED = f"scores{_CLOSE}.softmax(-1).masked_fill(closed, 0.0)"

wrong = SCALED_OR_MASKED_WRONGLY = Mistakes()
wrong("not scaled", {" / q.shape[-1] ** 0.5": ""}).says("""
    You did not divide the scores. A dot product grows with the number of features that it sums over, and with
    large scores the softmax becomes a hard choice with hardly a gradient, so divide by the root of this number.""")
wrong("root forgotten", {" ** 0.5": ""}).says("""
    You divided by the number of features itself. This is the *variance* of a dot product, so its standard
    deviation is the root of it: divide by the root.""")
wrong("scaled by a length", {" / q.shape[-1]": " / k.shape[-2]"}).says("""
    You divided by the root of the number of keys. The scores grow with the number of *features* that they sum
    over, and this is the number of which you need the root.""")
wrong("queries and keys swapped", {"q @ k.mT": "k @ q.mT"}).says("""
    You exchanged queries and keys in the scores. Row i of the weights belongs to query i, so the scores are q @
    k.mT.""")
wrong("softmax over the queries", {".softmax(-1)": ".softmax(-2)"}).says("""
    Your weights sum to 1 over the *queries*. Each query distributes one unit of weight over the *keys*, so the
    softmax runs over the last axis.""")
wrong("mask the wrong way round before the softmax", {"(closed, f": "(closed ^ (mask is not None), f"}).says("""
    You put −∞ where the mask is True. In this book True means *may attend*, so −∞ belongs where the mask is
    False, and after the softmax zeros belong there, too.""")
wrong("zeroed after the softmax", {_CLOSE: ""}).says("""
    You took the softmax over all positions and set the closed ones to 0 afterwards. The closed positions have
    received their share by then, so that the rest sums to less than 1: close them *before* the softmax, with −∞.""")
wrong("score 0 is not closed", {_MASKED: "(scores * ~closed).softmax(-1)"}).says("""
    You set closed scores to 0 (or multiplied by the mask) before the softmax. exp(0) is 1, so closed positions
    still receive a share, and therefore their score must be −∞.""")
wrong("NaN where all is closed", {".softmax(-1).masked_fill(closed, 0.0)": ".softmax(-1)"}).says("""
    A query that may attend to nothing became NaN, because a softmax over nothing but −∞ is 0 / 0. Set the weights
    of such a row to 0 afterwards.""")
wrong("a large number, not minus infinity", {_MASKED: "scores.masked_fill(closed, -1e9).softmax(-1)"}).says("""
    You filled closed positions with a large negative number. A query that may attend to nothing then distributes
    its weight evenly over closed positions, although all its weights must be 0.""")
