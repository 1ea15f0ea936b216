"""Mid-terms and finals from questions whose numbers a seed draws: `coursekit exam`."""
