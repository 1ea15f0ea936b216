"""Lab 15: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab15(ChecksOfALab):
    lab = "lab15"
