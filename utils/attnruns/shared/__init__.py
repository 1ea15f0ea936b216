"""What isn't an experiment: how one is run and recorded, and what several of them share."""
