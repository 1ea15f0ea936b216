"""The experiment on smaller caches in long texts, with a tiny model in the place of SmolLM2."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_caches

from attnruns.experiments import smaller_caches
from attnruns.experiments.smaller_caches import WAYS, loss_and_copied, share_of_bytes, text_with_list, tokens_kept
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    return tiny_for_caches(monkeypatch, smaller_caches)


@pytest.mark.parametrize("name", list(WAYS))
def test_a_run_measures_one_way_on_one_text(name, tmp_path):
    figures = checked_run(smaller_caches, Job(name, 0, 128), tmp_path, "cpu")
    assert 0 < figures["bytes"] <= 1
    assert figures["loss"] > 0
    assert all(2 <= word <= 8 for word in figures["copied"] + figures["another"])
    assert not set(figures["copied"]) & set(figures["another"])


def test_all_smaller_ways_keep_as_many_bytes_as_five_bits_of_sixteen():
    assert {share_of_bytes(way, smaller_caches.BEFORE) for name, way in WAYS.items() if name != "full"} == {5 / 16}
    assert share_of_bytes(WAYS["full"], smaller_caches.BEFORE) == 1
    assert (tokens_kept(WAYS["eight_global"], 3072), tokens_kept(WAYS["windows"], 3072)) == (192, 960)


def test_the_list_comes_twice_and_each_text_goes_on_where_the_one_before_ended(tiny):
    first, second = (text_with_list(tiny, seed, 128)[0] for seed in (0, 1))
    assert len(first) == 136
    assert first[4:12].tolist() == first[-8:].tolist() != second[-8:].tolist()
    assert len(set(first[-8:].tolist())) == 8
    tokens = smaller_caches.text_tokens(tiny)
    prose = torch.cat([torch.cat([text[:4], text[12:-8]]) for text in (first, second)])
    assert torch.equal(prose, tokens[:240])


def test_a_list_that_stands_nearer_leaves_the_prose_as_it_was(tiny):
    far, near = (text_with_list(tiny, 0, 128, back)[0] for back in (None, 20))
    assert near[108:116].tolist() == near[-8:].tolist() == far[-8:].tolist()
    assert torch.equal(torch.cat([near[:108], near[116:-8]]), torch.cat([far[:4], far[12:-8]]))


def test_the_loss_is_that_of_the_last_prose_and_a_window_over_everything_changes_nothing(tiny):
    text = text_with_list(tiny, 0, 128)
    nats, *_ = loss_and_copied(tiny.model, text, WAYS["full"])
    with torch.no_grad():
        logits = tiny.model(text)[0][0]
    wanted = torch.nn.functional.cross_entropy(logits[107:127], text[0, 108:128], reduction="none")
    torch.testing.assert_close(torch.tensor(nats), wanted, rtol=1e-4, atol=1e-4)
    wide, *_ = loss_and_copied(tiny.model, text, smaller_caches.Way((), share=2.0))
    torch.testing.assert_close(torch.tensor(wide), torch.tensor(nats), rtol=1e-4, atol=1e-4)
    for name in ("rounded", "windows"):
        assert loss_and_copied(tiny.model, text, WAYS[name])[0] != nats


def test_without_sinks_a_window_keeps_as_many_tokens_but_only_the_last_ones(tiny, monkeypatch):
    seen = {}
    whole = smaller_caches.read_under
    for name in ("windows", "no_sinks"):
        monkeypatch.setattr(smaller_caches, "read_under", lambda *a, of=name: seen.setdefault(of, a[2]) and whole(*a))
        loss_and_copied(tiny.model, text_with_list(tiny, 0, 128), WAYS[name])
    rows = {name: masks[0][127].nonzero().flatten().tolist() for name, masks in seen.items()}
    assert rows["windows"] == [*range(4), *range(92, 128)]
    assert rows["no_sinks"] == list(range(88, 128))


@torch.no_grad()
def test_words_that_the_model_names_are_copied(tiny):
    text = text_with_list(tiny, 0, 128)
    named = [2, 4, 7]
    for word in range(2, 9):
        likely = tiny.model(text)[0][0, 126 + word].argmax()  # from the token before
        text[0, 127 + word] = likely if word in named else (likely + 1) % 30
    assert loss_and_copied(tiny.model, text, WAYS["full"])[1] == named
