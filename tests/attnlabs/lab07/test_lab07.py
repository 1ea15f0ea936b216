"""Lab 7: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab07(ChecksOfALab):
    lab = "lab07"
