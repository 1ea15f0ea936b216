"""Lab 13: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab13(ChecksOfALab):
    lab = "lab13"
