"""Lab 5: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab05(ChecksOfALab):
    lab = "lab05"
