"""Lab 4: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab04(ChecksOfALab):
    lab = "lab04"
