"""Lab 9: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab09(ChecksOfALab):
    lab = "lab09"
