"""Lab 11: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab11(ChecksOfALab):
    lab = "lab11"
