"""Tasks over made symbols: numbers in words, dates, names, letters to copy, sort and recall."""
