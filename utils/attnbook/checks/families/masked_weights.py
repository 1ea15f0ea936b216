"""What goes wrong in a softmax with closed places, alone (lab 2) or in attention (lab 3): edits of either reference."""

from __future__ import annotations

from ..engine.exercise import Mistakes

CLOSE, CLEAN = ".masked_fill(closed, -torch.inf)", ".masked_fill(closed, 0.0)"

wrong = CLOSED_WRONGLY = Mistakes()
wrong("softmax over the queries", {"softmax(-1)": "softmax(-2)"}).says("""
    Your weights sum to 1 over the *queries*. Each query must spread one unit of attention over the *keys*: softmax
    over the last axis.""")
wrong("NaN where all is closed", {CLEAN: ""}).says("""
    A row that may attend to nothing became NaN: softmax of nothing but −∞ is 0 / 0. Such a row gets zero weights
    (padding queries have such rows, and one NaN spoils the whole batch).""")
wrong("a large number, not minus infinity", {"-torch.inf": "-1e9", CLEAN: ""}).says("""
    You filled closed places with a large negative number such as −1e9. A row with nothing to attend to then shares
    its attention among places that are closed. Its weights must all be 0.""")
wrong("zeroed after the softmax", {CLOSE: ""}).says("""
    You took the softmax over all places and zeroed the closed ones afterwards. What is left sums to less than 1:
    closed places still took their share. Close them before you normalise.""")
wrong("the largest may be closed", {f"scores{CLOSE}": "F.normalize(scores", CLEAN: f"{CLEAN}, 1, -1, 1e-30)"}).says("""
    You took the softmax over all places, zeroed the closed ones and normalised again. Where a closed score stands
    1000 above the open ones, nothing is left to normalise. Close first.""")
wrong("score 0 is not closed", {CLEAN: "", CLOSE: CLEAN}).says("""
    You set closed scores to 0 (or multiplied by the mask) before the softmax. exp(0) is 1, not 0, so closed places
    still get a share. Their score must be −∞.""")
