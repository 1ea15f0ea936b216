"""The experiment on copies, with a tiny model in the place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_pretrained

from attnbook.decoding import greedy
from attnbook.seeding import generator
from attnruns.experiments import sentence_copies
from attnruns.experiments.sentence_copies import behind, further_copies, read, sentences, shuffled
from attnruns.experiments.written_texts import NEVER, Endless
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A tiny model, seven sentences of four tokens, and one that is too long."""
    pretrained = tiny_pretrained(monkeypatch, sentence_copies, ends=(2,))
    rows = torch.randint(3, 100, (7, 4), generator=torch.Generator().manual_seed(3)).tolist()
    texts = [" ".join(map(str, row)) for row in [*rows, [3, 4, 5, 6, 7]]]
    monkeypatch.setattr(sentence_copies, "everyday", lambda: texts)
    for name, value in {"SIZE": 4, "LENGTH": 8, "MOST": 2, "SHUFFLED": (2,), "WRITTEN": (1, 2)}.items():
        monkeypatch.setattr(sentence_copies, name, value)
    return pretrained


def test_no_sentence_belongs_to_two_seeds_and_all_have_one_length(tiny):
    groups = [sentences(tiny, 3, seed) for seed in (0, 1)]
    assert [group.shape for group in groups] == [(3, 4), (3, 4)]
    assert len({tuple(row) for group in groups for row in group.tolist()}) == 6


def test_a_document_has_its_parts_behind_its_first_token():
    one, other = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[8, 9, 10, 11]])
    assert behind([one, other]).tolist() == [[0, 4, 5, 6, 7, 8, 9, 10, 11]]


def test_a_shuffled_sentence_has_the_same_tokens():
    asked = torch.arange(40).view(2, 20)
    found = shuffled(asked, generator(0))
    assert found.sort(dim=1).values.tolist() == asked.tolist()
    assert found.tolist() != asked.tolist()
    assert (found[1] - found[0]).tolist() != [20] * 20  # each in an order of its own


def test_reading_agrees_with_writing(tiny):
    asked = torch.tensor([[4, 5, 6, 7], [8, 9, 10, 11]])
    most = torch.stack([greedy(tiny.model, max_length=4, prompt=behind([asked]), eos=NEVER).tokens[0], asked[1]])
    first, second = read(tiny.model, [asked, most])
    assert (second["enters"][0], second["finishes"][0]) == (1, 1)
    p = tiny.model(behind([asked, most]))[0].softmax(dim=-1)[1, 4:-1].gather(1, most[1][:, None])[:, 0]
    assert second["first"][1] == pytest.approx(p[0].item(), abs=1e-4)
    assert second["others"][1] == pytest.approx(p[1:].mean().item(), abs=1e-4)
    assert second["finish"][1] == pytest.approx(p[1:].prod().item(), abs=1e-4)
    assert first == read(tiny.model, [asked])[0]  # what comes behind changes nothing


@pytest.mark.parametrize(
    "text, copies", [([4, 5, 6, 7], 1), ([9, 5, 6, 9, 5, 6, 7], 2), ([4, 6, 5, 7], 0), ([5, 6, 5, 6], 2), ([], 0)]
)
def test_a_copy_counts_whatever_its_first_and_last_token(text, copies):
    assert further_copies(text, [4, 5, 6, 7]) == copies


def test_a_run_reads_after_all_that_may_stand_before(tmp_path):
    found = checked_run(sentence_copies, Job("reads", 0, 3), tmp_path, "cpu")["by_kind"]
    assert found.keys() == {"own", "others", "shuffled"}
    assert all(len(values) == 3 for by in found.values() for at in by.values() for values in at.values())
    assert found["own"]["0"] == found["others"]["0"]
    assert [list(by) for by in found.values()] == [["0", "1", "2"], ["0", "1", "2"], ["2"]]


def test_a_run_writes_in_all_ways(tmp_path, tiny):
    found = checked_run(sentence_copies, Job("writes", 0, 3), tmp_path, "cpu")["by_way"]
    assert found.keys() == sentence_copies.WAYS.keys()
    asked = sentences(tiny, 3, 0)
    text = greedy(Endless(tiny), max_length=8, prompt=behind([asked] * 2), eos=NEVER).tokens.tolist()
    expected = [further_copies(*both) for both in zip(text, asked.tolist(), strict=True)]
    assert found["greedy"]["2"]["copies"] == expected
