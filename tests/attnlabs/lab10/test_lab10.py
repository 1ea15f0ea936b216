"""Lab 10: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab10(ChecksOfALab):
    lab = "lab10"
