"""What a lab's notebook hands its students ready-made, for this lab alone."""
