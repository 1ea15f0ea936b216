"""Small pictures: handwritten digits, pairs of them, captions, invented characters."""
