"""How a check works, whatever it checks; `exercise.py` tells how to write one."""
