"""Lab 16: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab16(ChecksOfALab):
    lab = "lab16"
