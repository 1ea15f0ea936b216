"""Mistakes and properties that exercises of several labs share."""
