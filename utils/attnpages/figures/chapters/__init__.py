"""Figures that belong to one chapter each: ``chNN.py`` holds those of chapter NN."""
