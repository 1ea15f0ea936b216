"""What goes wrong in v · tanh(…), written with two matrices (lab 2) or with one (lab 3): edits of either reference."""

from misread.exercise import Mistakes

wrong = BENT_OR_SUMMED_WRONGLY = Mistakes()
wrong("tanh forgotten", {".tanh()": ""}).says("""
    Your score has no tanh. Without it, the query adds the same number to the scores of all keys. The softmax does not
    change by that, so the weights would not depend on the query.""")
wrong("tanh after v", {"return pairs.tanh() @ v": "return (pairs @ v).tanh()"}).says("""
    You applied the tanh to the finished score. It must be applied to the sum, before the product with v.""")
TANH_OF_EACH_PART = """
    You applied a tanh to the query's part and another to the key's part, and added afterwards. Then the query adds
    the same number to the scores of all keys, and the weights do not depend on it. Add first, then apply one tanh."""
