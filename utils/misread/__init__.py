"""How a check works, whatever it checks; `README.md` writes one, and `exercise.py` tells all that one can hold."""
