"""Lab 3: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab03(ChecksOfALab):
    lab = "lab03"
