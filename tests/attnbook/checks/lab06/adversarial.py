"""Answers of lab 6 that came near to passing: slips that no list of mistakes foresees."""

import torch


def square_grid_assumed(features):
    side = features.shape[-1]
    return torch.stack([features[:, :, i // side, i % side] for i in range(side * side)], 1)


WRONG = {"image_to_annotations": [square_grid_assumed]}
