"""What goes wrong in v · tanh(…), written with two matrices (lab 2) or with one (lab 3): edits of either reference."""

from __future__ import annotations

from ..engine.exercise import Mistakes

wrong = BENT_OR_SUMMED_WRONGLY = Mistakes()
wrong("tanh forgotten", {".tanh()": ""}).says("""
    There is no tanh in your score. Without it the query adds the same number to every key, which cancels in the
    softmax: the query would have no say.""")
wrong("tanh after v", {"return pairs.tanh() @ v": "return (pairs @ v).tanh()"}).says("""
    You took the tanh of the finished score. It belongs between the sum and v.""")
wrong("sigmoid for tanh", {".tanh()": ".sigmoid()"}).says("""
    You bent the sum with a sigmoid. It lies between 0 and 1, so a feature could never count against a key; tanh lies
    between −1 and 1.""")
wrong("relu for tanh", {".tanh()": ".relu()"}).says("""
    You used ReLU where the paper has tanh. tanh keeps every score within the sum of |v|, so no single key can run
    away.""")
TANH_OF_EACH_PART = """
    You took the tanh of the query's part and of the key's part and added afterwards. Then the query adds one number
    to all keys, and cancels in the softmax. Add first, then tanh."""
