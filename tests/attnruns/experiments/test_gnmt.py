"""The experiment about depth: what its names say, the two ways to draw weights, and what a run measures."""

from dataclasses import replace

import pytest
import torch
from experiment_runs import checked_run
from torch import nn

from attnbook.data import shift_right
from attnbook.data.symbols.numbers import number_list, number_lists
from attnbook.models import GNMT
from attnbook.training import sequence_loss
from attnruns.experiments import gnmt
from attnruns.shared.runner import Job
from attnruns.shared.seq2seq import TRAINING
from attnruns.shared.weights import keep_weights


@pytest.fixture(scope="module")
def lists():
    return number_lists(train=80, validation=6, test_per_size=3, longest=2, longer=(3,), longer_per_size=2)


@pytest.mark.parametrize("name", gnmt.RECIPES)
def test_each_model_is_what_its_name_says(name, lists):
    recipe, model = gnmt.RECIPES[name], gnmt.build(name, lists)
    kind, *rest = name.split("_")
    layers = int(rest[0]) if rest else 4
    assert {stack: len(those) for stack, those in model.lstm_layers().items()} == {"encoder": layers, "decoder": layers}
    assert (model.first_residual <= layers) == (kind != "plain")
    assert recipe.learning_rate == {"slow": 1e-3, "fast": 1e-2}.get(name.split("_")[-1], TRAINING["learning_rate"])
    assert recipe.hidden == (48 if name == "small" else 96)


def test_the_further_plain_ones_differ_from_plain_8_in_one_thing():
    plain = gnmt.RECIPES["plain_8"]
    assert gnmt.RECIPES["plain_8_long"] == replace(plain, steps=2 * plain.steps)
    assert gnmt.RECIPES["plain_8_forget"] == replace(plain, start="forget")
    assert gnmt.RECIPES["plain_8_orthogonal"] == replace(plain, start="orthogonal")
    assert gnmt.RECIPES["residual_8"] == replace(plain, residual=True)


def lstms(model):
    return [part for part in model.modules() if isinstance(part, nn.LSTM | nn.LSTMCell)]


def test_an_open_forget_gate_has_a_bias_of_one_and_the_others_stay():
    model = GNMT(9, 8, 4, 6, layers=3)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    gnmt.open_forget_gates(model)
    for part in lstms(model):
        biases = [p for name, p in part.named_parameters() if name.startswith("bias")]
        width = part.hidden_size
        for into, own in zip(biases[::2], biases[1::2], strict=True):
            assert torch.equal((into + own)[width : 2 * width], torch.ones(width))
    for name, tensor in model.state_dict().items():
        width = len(tensor) // 4
        changed = (tensor != before[name]).nonzero()[:, 0] if tensor.ndim == 1 else (tensor != before[name]).nonzero()
        assert all(width <= row < 2 * width for row in changed.flatten().tolist()), name


def test_orthogonal_weights_keep_the_length_of_a_vector():
    model = GNMT(9, 8, 4, 6, layers=3)
    gnmt.draw_orthogonal(model)
    for part in lstms(model):
        for name, matrix in part.named_parameters():
            if name.startswith("weight"):
                for gate in matrix.detach().chunk(4):
                    short = min(gate.shape)
                    product = gate @ gate.T if len(gate) == short else gate.T @ gate
                    torch.testing.assert_close(product, torch.eye(short), atol=1e-5, rtol=0)


def test_the_watch_measures_the_gradient_of_every_layer(lists):
    model = gnmt.build("residual_4", lists).double()
    batch = lists.collate(lists.validation)
    watch = gnmt.Watch(batch)
    result = watch(model)
    loss = sequence_loss(model(batch.source, batch.lengths, shift_right(batch.target))[0], batch.target)
    loss.backward()
    assert result == pytest.approx(-loss.item())
    [seen] = watch.seen
    assert seen["loss"] == pytest.approx(loss.item(), abs=1e-4)
    for name, stack in model.lstm_layers().items():
        norms = [sum(p.grad.square().sum().item() for p in layer.parameters()) ** 0.5 for layer in stack]
        assert seen[name] == pytest.approx(norms, rel=0.01)


@pytest.mark.parametrize("number, wanted", [(7.59123e-6, 7.59e-6), (0.0, 0.0), (0.123456, 0.123)])
def test_three_digits(number, wanted):
    assert gnmt.three_digits(number) == wanted


def test_a_search_is_compared_with_the_targets_and_with_the_usual_answers():
    lists = [number_list([7, 8]), number_list([9])]
    answers = [["sieben"], ["neun"]]
    got = gnmt.compare(answers, [["sieben"], ["acht"]], lists)
    assert got == {"exact_match": 0.5, "changed": 0.5, "words": 0.5, "items": 0.6667}


@pytest.fixture
def quick(lists, monkeypatch):
    """The experiment on a tiny task, with tiny models."""
    monkeypatch.setattr(gnmt, "task", lambda: lists)
    small = {name: replace(recipe, hidden=8) for name, recipe in gnmt.RECIPES.items()}
    monkeypatch.setattr(gnmt, "RECIPES", small)


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps, at, best",
    [(7, [0, 2, 4, 6, 7], "cpu"), (6, [0, 2, 4, 6], "cpu"), (1, [0, 1], "cpu"), (1, [0, 1], "card")],
    indirect=["best"],
)
def test_a_run_tells_the_gradients_of_each_third(steps, at, quick, best, tmp_path):
    figures = checked_run(gnmt, Job("plain_2", 0, steps), tmp_path, best)
    norms = figures["gradient_norms"]
    assert [one["step"] for one in norms] == at
    assert all(len(one["encoder"]) == len(one["decoder"]) == 2 for one in norms)
    assert figures.keys() >= {"parameters", "seconds", "milliseconds_per_step", "losses", "exact_match"}
    assert "search" not in figures


@pytest.mark.slow
def test_the_small_model_is_searched_and_kept_and_comes_back(quick, lists, monkeypatch, tmp_path):
    outcome = gnmt.run(Job("small", 0, 2))
    found = outcome.figures["search"]
    assert [(one["alpha"], one["beta"]) for one in found[:4]] == [(0.0, 0.0), (0.0, 0.2), (0.0, 1.0), (0.2, 0.0)]
    assert found[0]["by_size"].keys() == {"1", "2", "3"}
    assert found[0]["by_size"]["1"]["changed"] == 0
    keep_weights(outcome.model, tmp_path, "gnmt", "small", 0)
    monkeypatch.setattr("attnruns.shared.weights.result_folders", lambda: [tmp_path])
    again = gnmt.trained("small")
    batch = lists.collate(lists.test)
    arguments = batch.source, batch.lengths, shift_right(batch.target)
    torch.testing.assert_close(again(*arguments)[0], outcome.model(*arguments)[0], atol=1e-2, rtol=1e-2)
    assert gnmt.run(Job("small", 1, 1)).model is None


def test_the_rate_of_the_recipe_is_the_rate_of_the_training(quick, monkeypatch):
    seen = {}
    monkeypatch.setattr(gnmt, "train_and_measure", lambda *arguments: seen.update(arguments[-1]) or {})
    with pytest.raises(KeyError, match="seconds"):  # nothing was measured
        gnmt.run(Job("plain_8_fast", 0, 3))
    assert {name: seen[name] for name in TRAINING} == {**TRAINING, "learning_rate": 1e-2}
