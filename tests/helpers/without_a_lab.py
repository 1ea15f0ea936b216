"""The one list of chapters that no lab follows."""

PAGES = {"18", "19", "20"}  # like chapters, but without a number in the contents, a lab and a box on the map
WITHOUT_A_LAB = {"00"} | PAGES  # a map
