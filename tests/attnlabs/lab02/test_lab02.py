"""Lab 2: its mistakes are caught under their own names, its right answers pass, in any variant."""

from catalogue import ChecksOfALab


class TestLab02(ChecksOfALab):
    lab = "lab02"
