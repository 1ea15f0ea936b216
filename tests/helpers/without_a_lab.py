"""The one list of chapters that no lab follows."""

WITHOUT_A_LAB = {"00"}  # a map
