"""Answers that are right on small, tame inputs, and nowhere else."""

from odd_softmaxes import cut_to_thirty, exp_as_it_is, filled_beyond_float32, largest_of_all, proper, renormalised

WRONG = {"masked_softmax": [renormalised, filled_beyond_float32, exp_as_it_is, cut_to_thirty, largest_of_all]}
RIGHT = {"masked_softmax": proper}
