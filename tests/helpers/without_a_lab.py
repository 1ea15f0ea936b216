"""The one list of chapters that no lab follows."""

PAGES = {"18"}  # like a chapter, but without a number in the contents, where they stand by their subject
WITHOUT_A_LAB = {"00"} | PAGES  # a map
