"""Answers that are right on small, tame inputs, and nowhere else."""

from odd_softmaxes import ODD, filled_with_ten_thousand, proper, renormalised

WRONG = {"masked_softmax": ODD}
RIGHT = {"masked_softmax": proper}
NAMED = {
    filled_with_ten_thousand: "a number, not minus infinity, then zeroed",
    renormalised: "the largest may be closed",
}
