"""Mistakes that students make: those that the checks know, and those of one class."""
