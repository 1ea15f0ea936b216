"""Lab 8: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab08(ChecksOfALab):
    lab = "lab08"
