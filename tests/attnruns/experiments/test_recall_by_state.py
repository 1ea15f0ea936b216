"""The experiment about what a state of fixed size holds."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnruns.experiments import recall_by_state
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few_sequences(monkeypatch):
    monkeypatch.setattr(recall_by_state, "TESTS", 3)


class Knowing(torch.nn.Module):
    """Looks an asked key up among the pairs, as a cache can; ``wrong`` answers the value of the first pair."""

    def __init__(self, wrong: bool = False):
        super().__init__()
        self.wrong = wrong
        self.there = torch.nn.Parameter(torch.zeros(1))

    def forward(self, words):
        told = words.shape[1] // 3 * 2
        keys, values = words[:, :told:2], words[:, 1:told:2]
        found = (words[:, :, None] == keys[:, None]).int().argmax(dim=-1)  # (B, T)
        answers = values.gather(1, found * (not self.wrong))
        return torch.nn.functional.one_hot(answers, 200).float(), None


def test_who_looks_up_is_always_right_and_who_always_names_the_first_is_right_about_once_per_sequence():
    assert set(recall_by_state.right_by_pairs(Knowing()).values()) == {1.0}
    first = recall_by_state.right_by_pairs(Knowing(wrong=True))
    assert all(share == pytest.approx(1 / int(pairs), abs=0.05) for pairs, share in first.items())


def test_models_of_one_size_differ_by_kind_alone_and_so_have_as_many_parameters():
    sizes = {sum(p.numel() for p in recall_by_state.build(name).parameters()) for name in recall_by_state.RECIPES
             if name.endswith("_16") and "gated" not in name}  # fmt: skip
    assert len(sizes) == 1  # the gated rule has one more rate per word


def test_lessons_take_turns_and_are_the_same_again():
    lessons = recall_by_state.Pairs()
    assert [lessons.batch_at(step, 2).source.shape[1] // 3 for step in range(5)] == [4, 8, 16, 32, 4]
    assert torch.equal(lessons.batch_at(3, 2, seed=1).source, lessons.batch_at(3, 2, seed=1).source)
    assert not torch.equal(lessons.batch_at(3, 2, seed=1).source, lessons.batch_at(3, 2, seed=2).source)


@pytest.mark.parametrize("name, best", once_on_the_card(recall_by_state.STEPS), indirect=["best"])
def test_a_run_measures_recall_and_what_is_kept(name, best, tmp_path):
    figures = checked_run(recall_by_state, Job(name, 0, 2), tmp_path, best)
    assert set(figures["right"]) == set(figures["numbers_kept"]) == {"4", "8", "16", "32", "48", "64"}
    assert len(figures["losses"]) == 1


def test_a_frozen_layer_stays_as_it_was_drawn_and_the_rest_is_trained():
    torch.manual_seed(0)
    model = recall_by_state.build("linear_softmax_16_frozen")
    before = [[weights.clone() for weights in layer.parameters()] for layer in model.layers]
    job = Job("linear_softmax_16_frozen", 0, 2)
    recall_by_state.train(
        model, recall_by_state.Pairs(), job, recall_by_state.TRAINING, loss=recall_by_state.answer_loss
    )
    same = [
        [torch.equal(new.cpu(), old) for new, old in zip(layer.parameters(), of_layer, strict=True)]
        for layer, of_layer in zip(model.layers, before, strict=True)
    ]
    assert all(same[0])
    assert not any(weights for weights in same[1][:3])  # what projects and mixes


def test_only_the_slow_models_have_another_learning_rate(monkeypatch):
    asked = {}

    def noted(model, lessons, job, training, loss):
        asked[job.model] = training["learning_rate"]
        raise InterruptedError

    monkeypatch.setattr(recall_by_state, "train", noted)
    for name in recall_by_state.RECIPES:
        with pytest.raises(InterruptedError):
            recall_by_state.run(Job(name, 0, 2))
    assert [asked.pop(f"{kind}_softmax_16_slow") for kind in ("linear", "gated")] == [1e-3, 1e-3]
    assert set(asked.values()) == {recall_by_state.TRAINING["learning_rate"]}
