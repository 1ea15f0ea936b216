"""What a full stop changes: which sentences are read how, and what is counted of their translations."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from torch import nn

from attnbook.data.texts.translation import cut, own_translation_task
from attnruns.experiments import translate_endings
from attnruns.shared.runner import Job, seeds_of
from attnruns.shared.weights import weights_file

ROOT = Path(__file__).parents[3]


@pytest.fixture
def data():
    """Six sentences of the book's own: the first four as they are, two without their full stop."""
    own = own_translation_task()
    pairs = [(own.source_pieces.decode(example.source), reference)
             for example, reference in zip(own.tests["test"][:6], own.references["test"], strict=False)]  # fmt: skip
    pairs[4:] = [(source.rstrip("."), reference) for source, reference in pairs[4:]]
    examples = [cut(*pair, own.source_pieces, own.target_pieces) for pair in pairs]
    return own._replace(tests={"few": examples}, references={"few": [reference for _, reference in pairs]})


@pytest.fixture
def read(data, monkeypatch):
    """The sentences that the model is given, call by call; it "translates" by returning what ``replies`` says."""
    given = []

    def written_both_ways(model, data, examples):
        given.append([data.source_pieces.decode(example.source) for example in examples])
        return {way: [model(source) for source in given[-1]] for way in ("greedy", "beam")}

    monkeypatch.setattr(translate_endings, "written_both_ways", written_both_ways)
    monkeypatch.setattr(translate_endings, "TEST", "few")
    return given


def test_each_kind_of_sentence_is_read_with_and_without_its_end(data, read, monkeypatch):
    monkeypatch.setattr(translate_endings, "trained", lambda name, seed: nn.Identity())
    monkeypatch.setattr(translate_endings, "RECIPES", {"some": SimpleNamespace(data=lambda: data)})
    figures = translate_endings.run(Job("some", 0, 1)).figures
    assert [figures[kind]["sentences"] for kind in ("with", "without", "all")] == [4, 2, 6]
    assert [len(sources) for sources in read] == [4, 4, 2, 2, 6]  # at last all as they are
    assert [all(source.endswith(".") for source in sources) for sources in read[:4]] == [True, False, True, False]
    assert [source.rstrip(".") for source in read[0]] == read[1]
    assert figures["training_with"] == 1.0
    assert figures["gain_of_beam"] == {"few": [0, 0, 0]}  # both write "A dog."
    assert figures["seconds"] >= 0
    assert set(figures["without"]["read_with"]) == set(figures["without"]["gain_of_stop"]) == {"greedy", "beam"}


def test_it_runs_with_the_seeds_whose_weights_come_with_the_book(monkeypatch):
    monkeypatch.delenv("ATTNBOOK_RESULTS", raising=False)
    seeds = seeds_of(translate_endings.EXPERIMENT, None)
    files = [ROOT / "results" / weights_file("translate", translate_endings.MODEL, seed) for seed in seeds]
    assert files
    assert all(file.is_file() for file in files)


def test_marks_at_the_end_do_not_count_and_long_translations_do(data, read):
    replies = {"Ein Hund": "A brown dog runs.", "Ein Haus": "a house " * 8}
    wanted = ["A brown dog runs", "There is a house"]
    greedy = translate_endings.measured(
        translate_endings.written_bare(replies.get, data, list(replies))["greedy"], wanted
    )
    assert greedy["far_too_long"] == 1
    assert greedy["length_ratio"] == (4 + 16) / (4 + 4)
    assert translate_endings.measured(["A brown dog runs"], wanted[:1]) == {
        "bleu": 100.0, "length_ratio": 1.0, "far_too_long": 0,
    }  # fmt: skip


def test_a_gain_is_the_difference_of_the_scores_and_lies_in_its_interval(data, read):
    replies = {"Ein Hund.": "A brown dog runs fast.", "Ein Haus.": "There is a house."}
    replies |= {"Ein Hund": "A brown dog runs.", "Ein Haus": "There is a big red house here"}
    references = ["A brown dog runs fast.", "There is a house."]
    pairs = list(zip(["Ein Hund", "Ein Haus."], references, strict=True))
    figures = translate_endings.compared(translate_endings.read_both_ways(replies.get, data, pairs))
    value, low, high = figures["gain_of_stop"]["beam"]
    assert value == pytest.approx(100 - figures["read_without"]["beam"]["bleu"], abs=0.01)
    assert 0 < low <= value <= high
    assert figures["gain_of_beam"] == {"read_with": [0, 0, 0], "read_without": [0, 0, 0]}  # both are written alike


def test_both_kinds_together_are_read_with_a_stop_and_as_they_are():
    ended, bare = (
        translate_endings.Read([f"{kind} wanted"], {"greedy": [f"{kind} with"]}, {"greedy": [f"{kind} without"]})
        for kind in ("ended", "bare")
    )
    wanted, with_stop, as_it_is = translate_endings.together(ended, bare)
    assert wanted == ["ended wanted", "bare wanted"]
    assert with_stop == {"greedy": ["ended with", "bare with"]}
    assert as_it_is == {"greedy": ["ended with", "bare without"]}


@pytest.mark.parametrize(
    "sentence, ends, bare",
    [("A dog.", True, "A dog"), ('"A dog!"', True, '"A dog'), ("A dog", False, "A dog"), ("A dog . ", True, "A dog")],
)
def test_marks_at_the_end_are_seen_and_taken_away(sentence, ends, bare):
    assert translate_endings.has_end(sentence) is ends
    assert translate_endings.without_end(sentence) == bare
