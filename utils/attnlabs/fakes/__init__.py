"""Stand-ins for models, small enough to know every number: what an exercise gets as an argument."""
