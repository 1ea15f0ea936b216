"""What a teacher makes of the course: handouts, slides, and the mistakes of a class."""
