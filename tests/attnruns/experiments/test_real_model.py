"""The experiment that looks inside pretrained models, with tiny ones in their place; nothing is fetched."""

from pathlib import Path

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import SIZE, tiny_pretrained

from attnbook.measure import inside
from attnruns.experiments import real_model
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Two layers of two heads with fixed weights, a text of 600 tokens, short windows and gaps."""
    pretrained = tiny_pretrained(monkeypatch, layers=2)
    for name, value in {"PERIOD": 4, "TEXT": 16, "GROUPS": (1, 2), "CONTROLS": 2, "LENGTH": 96}.items():
        monkeypatch.setattr(real_model, name, value)
    monkeypatch.setattr(real_model, "WINDOW", 8)
    monkeypatch.setattr(real_model, "GAPS", (0, 3, 50))
    monkeypatch.setattr(real_model, "CHUNK", 32)
    return pretrained


@pytest.mark.parametrize("name", ["single_heads", "groups", "windows", "long_text", "copying"])
def test_a_run_measures_its_part(name, tmp_path):
    assert checked_run(real_model, Job(name, 0, 2), tmp_path, "cpu")["seconds"] >= 0


def test_sentences_are_compared_by_the_shared_function(monkeypatch):
    monkeypatch.setattr(real_model, "fetch", Path)
    monkeypatch.setattr(real_model, "load", lambda path: path)
    monkeypatch.setattr(real_model, "compared", lambda path, draws: (str(path), list(draws)))
    assert real_model.run(Job("few_labels", 2, 3)).figures["right"] == ("minilm", [6, 7, 8])


def test_each_head_is_ablated_alone():
    figures = real_model.run(Job("single_heads", 0, 2)).figures
    assert [len(row) for row in figures["single"]] == [2, 2]
    assert [len(row) for row in figures["scores"]["induction"]] == [2, 2]


def test_heads_are_ordered_by_their_score_and_controls_have_small_ones():
    found = {"induction": [[0.05, 0.9], [0.0, 0.2]], "previous": [[0.1, 0.0], [0.3, 0.0]]}
    assert real_model.ordered(found["induction"]) == [(0, 1), (1, 1), (0, 0), (1, 0)]
    assert real_model.other_heads(found, 8, seed=0) == [(0, 0)]


def test_a_segment_holds_no_word_twice(tiny):
    for row in real_model.segments(tiny, 3, seed=0).tolist():
        assert len(set(row)) == len(row) == 4


class Copying(torch.nn.Module):
    """Names the word that stood PERIOD - 1 positions before, which is right in a second round."""

    def forward(self, words):
        return 50.0 * torch.nn.functional.one_hot(words.roll(3, dims=1), SIZE).float(), None


def test_only_the_second_round_is_measured(tiny):
    loss, right = real_model.copied(Copying().eval(), real_model.segments(tiny, 3, seed=0).repeat(1, 2))
    assert (round(loss, 6), right) == (0, 1)


def test_chunks_and_the_cache_give_the_surprises_of_a_whole_text(tiny):
    words = torch.randint(SIZE, (1, 100), generator=torch.Generator().manual_seed(2))
    whole = real_model.surprises(tiny.model(words)[0], words)
    torch.testing.assert_close(real_model.surprises_in_chunks(tiny.model, words), whole)


def test_copying_is_measured_after_the_text_between_has_been_read(tiny):
    words, text = real_model.segments(tiny, 2, seed=0), torch.arange(40)
    found = real_model.copies_over(tiny.model, words, text, (0, 7, 40))
    for gap, share in found.items():
        whole = torch.cat([words, text[:gap].expand(2, -1), words], dim=1)
        assert share == pytest.approx(real_model.copied(tiny.model, whole)[1])


def test_a_fused_block_ends_even_by_an_error(tiny):
    attentions = real_model.attentions_of(tiny.model)

    def fail():
        with real_model.fused(tiny.model):
            assert all(attention.fused for attention in attentions)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not any(attention.fused for attention in attentions)


def test_the_window_as_long_as_the_text_is_no_window():
    figures = real_model.run(Job("windows", 0, 2)).figures["by_mask"]
    assert list(figures) == ["all", "window + 0", "window + 1", "window + 4"]
    assert len({figure["perplexity"] for figure in figures.values()}) > 1


def test_three_seeds_read_windows_of_twelve_texts_that_share_no_word(tiny, monkeypatch):
    read = []

    def remembered(model, words, mask):
        read.append(words)
        return model(words)[0]

    monkeypatch.setattr(real_model, "text_tokens", lambda pretrained: torch.arange(SIZE))
    monkeypatch.setattr(inside, "read_under", remembered)
    steps = real_model.EXPERIMENT.steps["windows"]
    for seed in range(3):
        figures = real_model.run(Job("windows", seed, steps)).figures
    masks = len(figures["by_mask"])
    assert len(read) == 3 * figures["texts"] * masks == 12 * masks
    assert torch.cat([text.flatten() for text in read]).bincount(minlength=SIZE).max() == masks


def test_each_seed_copies_its_own_words_over_a_text_of_its_own(tiny, monkeypatch):
    given = []
    monkeypatch.setattr(
        real_model, "copies_over", lambda model, words, between, gaps: given.append((words, between)) or {}
    )
    for seed in range(3):
        real_model.run(Job("copying", seed, 4))
    assert all(words.shape == (4, 4) and between.shape == (50,) for words, between in given)
    assert (
        len({tuple(between.tolist()) for _, between in given}) == len({str(words.tolist()) for words, _ in given}) == 3
    )
