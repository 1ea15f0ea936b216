"""Heads that are replaced at one position of a tiny model in place of the real one; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_names

from attnbook.measure.circuits import contexts_of
from attnbook.seeding import generator
from attnruns.experiments import real_names
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    return tiny_for_names(monkeypatch)


@pytest.fixture
def text(tiny):
    model, ids = tiny.model, torch.tensor([[1, 2, 3, 4, 50, 60, 5, 50]])
    return real_names.Replaced(model, real_names.mean_of_heads(model, [ids.flip(1), ids[:, :3]]), ids)


def test_a_run_measures_its_part(tmp_path):
    figures = checked_run(real_names, Job("names", 0, 2), tmp_path, "cpu")
    assert len(figures["names"]) == 2
    assert figures["dot"].keys() == {"all", *real_names.STEPS}
    for of in figures["names"].values():
        assert [len(of[step]["lengths"]) for step in real_names.STEPS] == [2, 2, 2]


def test_a_text_breaks_off_before_the_last_token_of_the_second_name(tiny):
    case = real_names.case_of(tiny, "50 60")
    assert case.ids.tolist() == [[1, 2, 3, 4, 50, 60, 5, 50]]
    assert (case.token, case.first, case.title, case.dot) == (60, 5, 2, 3 + 1)
    assert real_names.case_of(tiny, "50 60 50") is None  # two tokens would have to be told apart


def test_names_are_different_and_those_that_are_expected_are_left_out(tiny, monkeypatch):
    drawn = dict(real_names.cases(tiny, 3, seed=0))
    assert len(drawn) == 3
    assert drawn.keys() == dict(real_names.cases(tiny, 3, seed=0)).keys() != dict(real_names.cases(tiny, 3, 1)).keys()
    of = {name: tiny.model(case.ids[:, : case.first])[0][0, -1].softmax(dim=-1) for name, case in drawn.items()}
    chances = {name: of[name][case.token].item() for name, case in drawn.items()}
    monkeypatch.setattr(real_names, "RARE", max(chances.values()))
    fewer = dict(real_names.cases(tiny, 3, seed=0))
    assert fewer.keys() & drawn.keys() == drawn.keys() - {max(chances, key=chances.get)}


def test_invented_names_have_a_first_name_and_a_surname(monkeypatch):
    monkeypatch.undo()
    first, last = real_names.invented(generator(0)).split()
    assert first.startswith(real_names.BEGIN)
    assert first.endswith(real_names.MIDDLE)
    assert last.endswith(real_names.END)


def test_the_mean_is_over_all_positions_of_all_texts(tiny, text):
    both = [contexts_of(tiny.model, ids)[1][0] for ids in (text.ids.flip(1), text.ids[:, :3])]  # (8, H, D/H), (3, …)
    torch.testing.assert_close(text.means[1], torch.cat(both).mean(dim=0))


@pytest.mark.parametrize("at", [3, 7])
def test_with_nothing_replaced_the_logits_are_the_models_and_the_state_before_stays(tiny, text, at):
    usual = tiny.model(text.ids)[0][0, -1]
    changed = text.without([(0, 1)], at)
    assert (changed - usual).abs().max() > 1e-4
    torch.testing.assert_close(text.without([], at), usual)
    torch.testing.assert_close(text.without([(0, 1)], at, stretch=0.0), usual)
    torch.testing.assert_close(text.without([(0, 1)], at), changed)


def test_the_change_is_what_the_replacement_adds_and_can_be_stretched(tiny, text):
    added = text.change([(2, 0), (2, 1)], 7)
    torch.testing.assert_close(2 * added, text.change([(2, 0), (2, 1)] * 2, 7))
    of_last = text.in_the_sum([(2, 0)])
    assert of_last.shape == (120,)
    torch.testing.assert_close(text.in_the_sum([]), tiny.model(text.ids)[0][0, -1])
    seen = {}
    text.without = lambda heads, at, stretch: seen.update(stretch=stretch)
    text.stretched([(0, 1)], 7, as_long_as=[(2, 0), (2, 1)])
    assert seen["stretch"] == pytest.approx((added.norm() / text.change([(0, 1)], 7).norm()).item())


def test_other_heads_are_as_many_of_the_same_layers_or_all_of_an_earlier_one(monkeypatch):
    monkeypatch.setattr(real_names, "DRAWS", 10)
    assert real_names.heads_of("last", 2) == [(2, 0), (2, 1)]
    assert real_names.others_of("notes", 2, generator(0)) == [[(0, 0)]]
    assert real_names.others_of("finds", 2, generator(0)) == [[(1, 1)]]
    assert sorted(real_names.others_of("last", 2, generator(0))) == [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]


def test_a_logit_is_counted_from_the_mean():
    assert real_names.above_mean(torch.tensor([1.0, 2.0, 6.0]), 2) == 3.0


def test_figures_of_a_step_of_a_name_and_of_the_dot_are_those_of_the_replacement(tiny, text):
    case = real_names.case_of(tiny, "50 60")
    figures = real_names.step_figures(text, case, "notes", generator(0))
    assert figures["without"] == real_names.above_mean(text.without([(0, 1)], 5), 60)
    of = real_names.name_figures(text, case, generator(0))
    assert of["notes"] == figures
    assert of["first"] == real_names.above_mean(text.logits[4], 60)
    assert of["notes at the end"] == real_names.above_mean(text.without([(0, 1)], 7), 60)
    dot = real_names.dot_figures(text, 4)
    assert dot["finds"] == real_names.above_mean(text.without([(1, 0)], 7), 4)


def test_keys_are_changed_for_the_last_query_only_and_of_the_finders_only(tiny, text):
    own, others = text.keys_of([(1, 0)])
    assert (own, others) == ({(1, 0)}, {(1, 1)})
    usual = tiny.model(text.ids)[0][0, -1]
    torch.testing.assert_close(text.without_in_keys([(0, 1)], 5, set()), usual)
    torch.testing.assert_close(text.without_in_keys([], 5, own | others), usual)  # the keys are those of the cache
    changed = text.without_in_keys([(0, 1)], 5, own)
    assert (changed - usual).abs().max() > 1e-5
    assert (changed - text.without_in_keys([(0, 1)], 5, others)).abs().max() > 1e-5
    torch.testing.assert_close(text.without([], 7), usual)  # the state before is not touched


def test_a_key_misses_what_was_written(tiny, text):
    block = tiny.model.blocks.layers[1]
    x = block.norm_self(text.entering[1][5] + text.change([(0, 1)], 5))
    wanted = block.self_attention.project_key(x).unflatten(-1, (2, 8))[:, None, None]  # (H, 1, 1, D/H)
    wanted = block.self_attention.positions.rotate(wanted.transpose(0, 1), torch.tensor([5]))[0, :, 0]
    torch.testing.assert_close(text.key_without(1, 5, [(0, 1)]), wanted)


def test_two_steps_are_replaced_together(tiny, text):
    usual = text.without_both([(0, 1)], 5, [])  # first of all, so that it has to read the tokens before itself
    torch.testing.assert_close(usual, text.without([(0, 1)], 5))
    usual = tiny.model(text.ids)[0][0, -1]
    torch.testing.assert_close(text.without_both([], 5, []), usual)
    torch.testing.assert_close(text.without_both([(0, 1)], 5, []), text.without([(0, 1)], 5))
    torch.testing.assert_close(text.without_both([], 5, [(1, 0)]), text.without([(1, 0)], 7))
    assert (text.without_both([(0, 1)], 5, [(1, 0)]) - text.without([(1, 0)], 7)).abs().max() > 1e-5


def test_figures_of_keys_are_those_of_the_replacement(tiny, text):
    figures = real_names.key_figures(text, real_names.case_of(tiny, "50 60"))
    assert figures["without"] == real_names.above_mean(text.without_in_keys([(0, 1)], 5, {(1, 0)}), 60)
    assert figures["both steps"] == real_names.above_mean(text.without_both([(0, 1)], 5, [(1, 0)]), 60)
    assert {figures["copied"], figures["copied without both"]} <= {0, 1}
