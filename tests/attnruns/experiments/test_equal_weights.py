"""The control of Chapter 2: the model with attention, all of whose weights are equal."""

import torch

from attnbook.data import number_list, shift_right
from attnruns.experiments import equal_weights, numbers


def test_it_trains_as_long_as_attention_on_the_same_task():
    assert equal_weights.EXPERIMENT.steps == {"uniform": 1200}
    assert equal_weights.EXPERIMENT.settings == numbers.EXPERIMENT.settings


def test_all_words_have_the_same_weight_and_padding_has_none():
    batch = equal_weights.task().collate([number_list([300, 7]), number_list([42])])  # 4 words, and 2
    _, weights = equal_weights.build("uniform")(batch.source, batch.lengths, shift_right(batch.target))
    assert torch.allclose(weights[0], torch.full_like(weights[0], 1 / 4), atol=1e-6)
    assert torch.allclose(weights[1], torch.tensor([0.5, 0.5, 0, 0]).expand_as(weights[1]), atol=1e-6)


def test_it_differs_from_the_model_with_attention_in_the_score_alone():
    shapes = {name: tensor.shape for name, tensor in equal_weights.build("uniform").named_parameters()}
    attention = {name: tensor.shape for name, tensor in numbers.build("attention").named_parameters()}
    assert shapes == {name: shape for name, shape in attention.items() if not name.startswith("score.")}
