"""The one list of chapters that no lab follows."""

WITHOUT_A_LAB = {"00", "17"}  # a map; and a chapter whose lab is not written yet
