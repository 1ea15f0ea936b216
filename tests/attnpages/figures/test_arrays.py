"""Figures take tensors from any device, with a gradient or without."""

import numpy as np
import pytest
import torch

from attnpages.figures import plot_bars, plot_by_length, plot_heat, plot_losses
from attnpages.figures.arrays import as_array
from attnpages.figures.chapters import ch00, ch04, ch08, ch15


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.bool, torch.long])
def test_a_tensor_of_any_kind_and_device_becomes_an_array_of_floats(device, kind):
    found = as_array(torch.ones(2, 3, device=device, dtype=kind))
    assert (found.dtype, found.shape, found.sum()) == (np.float64, (2, 3), 6)


def test_lists_and_arrays_do_too_and_a_gradient_stays_behind(device):
    assert as_array([[1, 2]]).tolist() == as_array(np.array([[1, 2]])).tolist() == [[1.0, 2.0]]
    assert as_array(torch.ones(2, device=device, requires_grad=True)).tolist() == [1.0, 1.0]


FIGURES = {
    "cells": lambda x: plot_heat(x, "key", "query"),
    "bars": lambda x: plot_bars({"seeds": x[0]}, "share"),
    "by length": lambda x: plot_by_length({"seeds": {1: x[0], 2: x[1]}}, "length", "share"),
    "losses": lambda x: plot_losses({"model": x[0]}),
    "who attends": lambda x: ch00.plot_who_attends({"mask": x > 0}, {"mask": (["a", "b"], ["c", "d"])}),
    "window": lambda x: ch04.plot_window(["a", "b"], x[0], x[1], centre=0.5, half_width=1),
    "by distance": lambda x: ch08.plot_by_distance({"head": x[0]}, x[1], trained=(0, 1)),
    "episodes": lambda x: ch15.plot_episodes(x.expand(1, 2, 1, 2, 2), torch.zeros(1, 2, device=x.device).long()),
}


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_figures_are_drawn_from_tensors_on_any_device(device, figure):
    assert figure(torch.tensor([[0.5, 0.25], [0.75, 1.0]], device=device)) is not None
