"""The experiment about hidden words and few labels, on captions that are made up here: nothing is fetched."""

import pytest
import torch
from experiment_runs import once_on_the_card

from attnbook.data.texts.vocabulary import PAD
from attnruns.experiments import masked_language_model
from attnruns.shared import few_labels
from attnruns.shared.runner import Job

pytestmark = pytest.mark.usefixtures("tiny_captions")


def test_words_are_hidden_anew_at_each_step_and_alike_for_the_same_step():
    lessons = masked_language_model.HiddenWords()
    first, again, other = (lessons.batch_at(step, 8, 1) for step in (0, 0, 1))
    assert all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    assert first.source.shape != other.source.shape or not torch.equal(first.source, other.source)
    assert (first.target != PAD).any()


def test_random_words_are_never_the_mask_and_the_mask_is_the_last_number_of_the_model():
    model, mask = masked_language_model.build(), masked_language_model.mask_id()
    assert model.embed.words.num_embeddings == mask + 1
    tokens = torch.full((50, 50), 5)
    hidden = masked_language_model.hidden_words(tokens, torch.full((50,), 50), seed=0)
    assert (hidden.source == mask).any()
    assert hidden.source.max() == mask
    share = (hidden.source[hidden.target != PAD] == mask).float().mean().item()
    assert share == pytest.approx(0.8, abs=0.07)


class Naming(torch.nn.Module):
    """Names what stands in the input."""

    def forward(self, words, lengths):
        return torch.nn.functional.one_hot(words, masked_language_model.mask_id() + 1).float(), []


def test_who_names_what_it_reads_is_right_where_the_word_was_left_alone_and_nowhere_else():
    tokens = torch.full((40, 50), 5)
    hidden = masked_language_model.hidden_words(tokens, torch.full((40,), 50), seed=0)
    found = masked_language_model.masked_accuracy(Naming(), [hidden])
    assert found["all"] == pytest.approx(0.1, abs=0.05)
    assert {name: found[name] for name in ("mask", "other", "same")} == {"mask": 0, "other": 0, "same": 1}


def test_a_bag_of_words_is_no_masked_language_model():
    with pytest.raises(ValueError, match="a bag of words is no masked language model"):
        masked_language_model.build("bag_of_words")


KINDS = {
    "pretrained": {"probe", "fine_tuned", "fine_tuned_at_once"},
    "scratch": {"scratch", "untrained_probe"},
    "bag_of_words": {"bag_of_words"},
}


@pytest.mark.parametrize("name, best", once_on_the_card(KINDS), indirect=["best"])
def test_a_run_answers_every_task_with_every_number_of_labels(name, best):
    outcome = masked_language_model.run(Job(name, 0, 2))
    figures = outcome.figures
    assert figures["accuracy"].keys() == KINDS[name]
    for by_task in figures["accuracy"].values():
        assert by_task.keys() == few_labels.TASKS.keys()
        for right in by_task.values():
            assert right.keys() == {"4", "8"}
            assert all(0 <= share <= 1 for share in right.values())
    assert (outcome.model is not None) == (name == "pretrained")
    assert masked_language_model.run(Job(name, 1, 2)).model is None


def test_pretraining_is_measured_on_hidden_words():
    figures = masked_language_model.run(Job("pretrained", 0, 6)).figures
    assert [seen["step"] for seen in figures["validations"]] == [1, 2, 3, 4, 5, 6]
    assert figures["masked_accuracy"].keys() == {"all", "mask", "other", "same"}
    assert 0 < figures["commonest_word"] < 1
    assert figures["pretraining_seconds"] <= figures["seconds"]
