"""Lab 14: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab14(ChecksOfALab):
    lab = "lab14"
