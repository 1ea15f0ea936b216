"""The experiment with a store of captions, on a few sentences of our own."""

import pytest
import torch
from experiment_runs import once_on_the_card

from attnbook.data.texts.language import text_task
from attnbook.data.texts.vocabulary import PAD
from attnbook.models.neighbours import Datastore, build_datastore, nearest_neighbours, vote
from attnruns.experiments import neighbours
from attnruns.shared.runner import Job

WHO = ("a man", "two women", "a small dog", "some children", "an old lady")
WHERE = ("in a park", "on the street", "near the water", "in front of a house", "at a table")
SENTENCES = [f"{who} {what} {where}." for who in WHO for what in ("sits", "runs", "waits", "plays") for where in WHERE]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A hundred sentences in place of the captions, small stores, small grids."""
    task = text_task("few", SENTENCES[::2] + SENTENCES[1::4], SENTENCES[3::8], SENTENCES[7::8], 60)
    monkeypatch.setattr(neighbours, "caption_task", lambda: task)
    monkeypatch.setattr(neighbours, "SEEN", 20)
    monkeypatch.setitem(neighbours.RECIPES, "part", neighbours.Recipe(seen=20, kept=True))
    monkeypatch.setattr(neighbours, "STORES", (10, 20, None))
    monkeypatch.setattr(neighbours, "NEIGHBOURS", (1, 8))
    monkeypatch.setattr(neighbours, "CAPTIONS", {"validation": 6, "test": 6})
    return task.task


@pytest.fixture
def model(few):
    torch.manual_seed(0)
    return neighbours.build("part", len(few.source_vocabulary)).eval()


@pytest.mark.parametrize("name, best", once_on_the_card(["part"]), indirect=["best"])
def test_a_run_has_a_perplexity_for_each_store_and_each_k(name, few, best):
    outcome = neighbours.run(Job(name, 0, 5))
    figures = outcome.figures
    assert figures["feed_forward"]["by_store"].keys() == {"10", "20", str(len(few.train))}
    assert figures["last_state"]["by_store"].keys() == {str(len(few.train))}
    cell = figures["feed_forward"]["by_store"]["20"]
    assert cell.keys() == {"entries", "1", "8"}
    assert cell["entries"] == sum(len(example.target) + 1 for example in few.train[:20])
    assert cell["8"].keys() == {"temperature", "weight", "perplexity", "repeated"}
    assert figures["feed_forward"]["model"][0] == figures["perplexity"]
    assert outcome.model is not None


def test_a_model_of_all_captions_is_measured_without_a_store():
    figures = neighbours.run(Job("all", 1, 2)).figures
    assert figures.keys() == {"parameters", "loss", "perplexity", "words", "seconds"}


def test_captions_in_the_store_are_predicted_better(model, few):
    figures = neighbours.measure(model, few, few.train, "feed_forward", (None,))
    [cell] = figures["by_store"].values()
    assert cell["8"]["repeated"] < figures["model"][1] / 2


def test_stores_that_grow_find_what_a_search_of_each_finds(draw, close, device):
    store = Datastore(draw(60, 4), (torch.arange(60) % 5).to(device))
    states, target = draw(9, 4, seed=1), (torch.arange(9) % 5).to(device)
    ends = [5, 40, 60]
    for (distances, words), end in zip(neighbours.grown_neighbours(states, store, ends, 8), ends, strict=True):
        wanted, positions = nearest_neighbours(states, store.keys[:end], min(8, end))
        close(distances, wanted)
        share = neighbours.right_share(distances, words, target, 2.0)
        close(share, vote(wanted, store.next_tokens[positions], 2.0, 6).gather(1, target[:, None])[:, 0])


def test_the_choice_is_never_worse_than_no_memory_on_what_it_was_chosen_for(model, few):
    store = build_datastore(model, neighbours.texts(few, few.train), model.output, PAD)
    asked = neighbours.questions(model, few, few.validation, "last_state")
    [found] = neighbours.grown_neighbours(asked.states, store, [len(store.keys)], 8)
    choice = neighbours.choose(asked, *found)
    assert neighbours.mixed_perplexity(asked, *found, choice) <= neighbours.perplexity(asked.model)


def test_questions_are_the_words_of_the_captions_and_the_model_is_right_about_its_own_probability(model, few):
    asked = neighbours.questions(model, few, few.test, "feed_forward")
    assert len(asked.words) == sum(len(example.target) + 1 for example in few.test)
    loss = neighbours.language_model_loss(model, few.collate(few.test))
    assert neighbours.perplexity(asked.model) == pytest.approx(loss.exp().item(), rel=1e-4)
