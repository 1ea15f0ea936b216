"""Lab 6: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab06(ChecksOfALab):
    lab = "lab06"
