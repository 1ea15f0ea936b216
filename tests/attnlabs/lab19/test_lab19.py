"""Lab 19: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab19(ChecksOfALab):
    lab = "lab19"
