"""Lab 1: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab01(ChecksOfALab):
    lab = "lab01"
