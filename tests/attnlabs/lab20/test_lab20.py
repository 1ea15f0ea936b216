"""Lab 20: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab20(ChecksOfALab):
    lab = "lab20"
