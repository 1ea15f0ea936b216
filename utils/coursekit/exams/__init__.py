"""Mid-terms, finals and a test on real models from questions whose numbers a seed draws: `coursekit exam`."""
