"""Lab 12: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab12(ChecksOfALab):
    lab = "lab12"
