"""Keys of one reading taken into another, and shares in a logit, on a tiny model in place of the real one."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_names

from attnruns.experiments import real_keys, real_names
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    return tiny_for_names(monkeypatch, real_keys)


@pytest.fixture
def case(tiny):
    return real_names.case_of(tiny, "50 60 70")


@pytest.fixture
def text(tiny, case):
    means = real_names.mean_of_heads(tiny.model, [case.ids.flip(1), case.ids[:, :3]])
    return real_names.Replaced(tiny.model, means, case.ids)


@pytest.mark.parametrize("part", ["keys", "shares"])
def test_a_run_measures_its_part(tmp_path, part):
    figures = checked_run(real_keys, Job(part, 0, 2), tmp_path, "cpu")
    if part == "keys":
        assert [len(of) for of in figures["names"].values()] == [6, 6]
    else:
        for of in (figures["all"], figures["without_finders"]):
            parts = torch.tensor(of["heads"]).sum() + torch.tensor(of["feed_forward"]).sum() + of["word"]
            assert parts.item() == pytest.approx(of["whole"], abs=0.01)


def test_the_state_without_heads_is_that_of_the_replacement(text, case):
    expected = real_names.Replaced(text.model, text.means, text.ids).without([(0, 1)], case.first)
    state = real_keys.state_without(text, [(0, 1)], case.first)  # first of all, so that it has to read what is before
    logits, _, _ = text.model.read(text.ids[:, -1:], state)
    torch.testing.assert_close(logits[0, -1], expected, atol=1e-6, rtol=1e-5)
    late = text.ids.shape[1] - 2  # nothing is left to be read before the last token
    logits, _, _ = text.model.read(text.ids[:, -1:], real_keys.state_without(text, [(0, 1)], late))
    torch.testing.assert_close(logits[0, -1], text.without([(0, 1)], late))


def test_keys_come_from_the_other_state_and_all_else_stays(text, case):
    usual = text.state_before(text.ids.shape[1] - 1)
    without = real_keys.state_without(text, [(0, 1)], case.first)
    mixed = real_keys.with_keys(usual, without, {(1, 0)}, case.first)
    torch.testing.assert_close(mixed.past[1].key[0, 0, case.first], without.past[1].key[0, 0, case.first])
    differs = (mixed.past[1].key - usual.past[1].key).abs().amax(dim=(0, 3))  # (G, T - 1)
    assert differs[0, case.first] > 1e-5
    assert (differs > 0).sum() == 1
    torch.testing.assert_close(mixed.past[1].value, usual.past[1].value)
    assert mixed.past[2] is usual.past[2]


def test_figures_of_keys_begin_with_the_usual_reading_and_that_without_the_note(text, case):
    figures = real_keys.key_figures(text, case)
    assert figures["usual"]["logit"] == pytest.approx(real_names.above_mean(text.logits[-1], case.token), abs=2e-3)
    without = real_names.above_mean(text.without([(0, 1)], case.first), case.token)
    assert figures["without"]["logit"] == pytest.approx(without, abs=2e-3)
    usual, changed = text.state_before(9), real_keys.state_without(text, [(0, 1)], case.first)
    for name, states in (("patched", (usual, changed)), ("restored", (changed, usual))):
        logits, _, _ = text.model.read(text.ids[:, -1:], real_keys.with_keys(*states, {(1, 0)}, case.first))
        assert figures[name]["logit"] == real_names.above_mean(logits[0, -1], case.token)


@pytest.mark.parametrize("without", [[], [(1, 0)]])
def test_shares_add_up_to_the_logit(text, case, without):
    found = real_keys.written(text, case.token, without)
    at_end = real_names.above_mean(text.without(without, text.ids.shape[1] - 1), case.token)
    assert found.whole == pytest.approx(at_end, abs=2e-3)
    assert (found.heads.sum() + found.feed_forward.sum() + found.word).item() == pytest.approx(found.whole, abs=5e-3)
    torch.testing.assert_close(found.weights.sum(dim=-1), torch.ones(3, 2))
