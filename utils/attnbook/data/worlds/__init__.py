"""Worlds to act in: bandits, mazes, and episodes that pose a new task each."""
