"""The one list of chapters that no lab follows."""

PAGES = {"18"}  # like a chapter, but without a number in the contents, a lab and a box on the map
WITHOUT_A_LAB = {"00"} | PAGES  # a map
