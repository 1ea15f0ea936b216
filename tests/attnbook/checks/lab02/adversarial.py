"""Answers that are right on small, tame inputs, and nowhere else."""

from odd_softmaxes import ODD, adds_a_little_to_the_sum, filled_with_ten_thousand, proper, renormalised


def filled_with_a_billion(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(-1).masked_fill(~mask, 0.0)


def filled_and_left(scores, mask):
    return scores.masked_fill(~mask, -1e4).softmax(-1)


WRONG = {
    "masked_softmax": [odd for odd in ODD if odd is not adds_a_little_to_the_sum]
    + [filled_with_a_billion, filled_and_left]
}
RIGHT = {"masked_softmax": proper}
NAMED = {
    filled_with_ten_thousand: "a number, not minus infinity, then zeroed",
    filled_with_a_billion: "a number, not minus infinity, then zeroed",
    filled_and_left: "a large number, not minus infinity",
    renormalised: "the largest may be closed",
}
