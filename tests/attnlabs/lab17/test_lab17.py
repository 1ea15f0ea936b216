"""Lab 17: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab17(ChecksOfALab):
    lab = "lab17"
