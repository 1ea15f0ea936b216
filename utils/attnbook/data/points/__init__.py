"""Points in the plane: hulls, round trips, triangulations, and their labels."""
