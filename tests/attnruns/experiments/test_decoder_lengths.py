"""The experiment on one causal stack that copies beyond its trained lengths."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.attention import HardBias, LinearBias, NoPositions, RandomRotary, Rotary, WindowedRotary
from attnbook.data.batching import Batch
from attnbook.data.texts.vocabulary import SPECIAL
from attnruns.experiments import decoder_lengths
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def few_strings(monkeypatch):
    monkeypatch.setattr(decoder_lengths, "SIZES", (2, 12, 48))


def test_a_string_is_drawn_from_the_alphabet_and_is_its_own_target():
    batch = decoder_lengths.strings(300, 7, seed=1)
    assert batch.source.shape == (300, 7)
    assert torch.equal(batch.source, batch.target)
    assert set(batch.source.flatten().tolist()) == set(range(len(SPECIAL), decoder_lengths.SEPARATOR))


def test_lessons_have_all_trained_lengths_and_no_other():
    sizes = {decoder_lengths.Strings().batch_at(step, 2).source.shape[1] for step in range(300)}
    assert sizes == set(range(2, 13))
    one, other = (decoder_lengths.Strings().batch_at(3, 2, seed).source for seed in (0, 0))
    assert torch.equal(one, other)


def test_names_say_how_a_model_knows_positions():
    kinds = {
        "linear_bias": LinearBias,
        "hard": HardBias,
        "hard_4": HardBias,
        "rotary": Rotary,
        "random_rotary": RandomRotary,
    }
    for name in decoder_lengths.STEPS:
        first, second = (layer.self_attention.positions for layer in decoder_lengths.build(name).blocks.layers)
        assert type(second) is kinds.get(name, NoPositions)
        assert type(first) is (WindowedRotary if name in decoder_lengths.WINDOW else type(second))
        if name in decoder_lengths.WINDOWS:
            assert first.windows == second.windows == decoder_lengths.WINDOWS[name]
        if name in decoder_lengths.WINDOW:
            assert first.window.windows == (decoder_lengths.WINDOW[name],)


@pytest.mark.parametrize("name", ["none", "hard_4", "rotary_window_3", "random_rotary"])
def test_what_is_asked_of_a_model_depends_on_no_later_letter(name):
    model, batch = decoder_lengths.build(name).eval(), decoder_lengths.strings(2, 5, seed=0)
    with torch.no_grad():
        torch.manual_seed(0)
        logits = model.copy(batch)
        changed = batch.target.clone()
        changed[:, 3:] = len(SPECIAL)
        torch.manual_seed(0)
        again = model.copy(batch._replace(target=changed))
    torch.testing.assert_close(again[:, :4], logits[:, :4])


def test_a_string_counts_as_copied_where_greedy_decoding_copies_it():
    torch.manual_seed(0)
    model, size = decoder_lengths.build("hard").eval(), 4
    batch = decoder_lengths.strings(8, size, seed=0)
    separator = torch.full((8, 1), decoder_lengths.SEPARATOR)
    with torch.no_grad():
        state = model.start()
        logits, state, _ = model.read(torch.cat([batch.source, separator], dim=1), state)
        word, written = logits[:, -1].argmax(dim=-1), []
        for _ in range(size):
            written.append(word)
            logits, state, _ = model.step(word, state)
            word = logits.argmax(dim=-1)
        own = torch.stack(written, dim=1)
        given = model.copy(batch._replace(target=own)).argmax(dim=-1)
    assert torch.equal(given, own)


def test_a_rule_with_enough_context_copies_everything_and_one_without_a_repeated_letter(monkeypatch):
    assert decoder_lengths.copied_by_rule(12, 12) == 1
    monkeypatch.setattr(decoder_lengths, "strings", lambda *_: Batch(torch.tensor([[1, 2, 1, 3]]), None, None))
    assert decoder_lengths.copied_by_rule(4, 2, count=1) == 1
    assert decoder_lengths.copied_by_rule(4, 1, count=1) == 1 / 4  # behind each 1, 2 or 3 is written


@pytest.mark.parametrize("name, best", once_on_the_card(decoder_lengths.STEPS), indirect=["best"])
def test_a_run_measures_each_size(name, best, tmp_path):
    figures = checked_run(decoder_lengths, Job(name, 0, 2), tmp_path, best, kept=name in decoder_lengths.KEPT)
    assert set(figures["copied"]) == {"2", "12", "48"}
    assert all(0 <= share <= 1 for each in figures["copied"].values() for share in each.values())
