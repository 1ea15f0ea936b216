"""Notes exchanged in the vectors themselves, on a tiny model in place of the real one."""

import pytest
import torch
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_names

from attnbook.measure.circuits import contexts_of
from attnruns.experiments import real_names, real_streams
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(real_streams, "ALONE", "5 {0}")
    return tiny_for_names(monkeypatch, real_streams)


def test_the_other_position_has_the_note_and_other_heads_stay(tiny):
    ids = torch.tensor([[7, 9, 11, 13, 15, 17]])
    usual = contexts_of(tiny.model, ids)[0]  # (1, T, H, D/H)
    with real_streams.exchanged(tiny.model, (0, 1), 2, 4):
        joined = []
        projection = tiny.model.blocks.layers[0].self_attention.project_output
        hook = projection.register_forward_pre_hook(lambda _, x: joined.append(x[0]))
        changed, _ = tiny.model(ids)[:2]
        hook.remove()
    seen = joined[0].unflatten(-1, (2, -1))
    expected = usual.clone()
    expected[:, [2, 4], 1] = usual[:, [4, 2], 1]
    torch.testing.assert_close(seen, expected)
    assert (changed - tiny.model(ids)[0])[0, -1].abs().max() > 1e-5
    torch.testing.assert_close(contexts_of(tiny.model, ids)[0], usual)  # nothing stays behind


def test_the_likeliest_token_is_recorded_for_each_exchange(tiny, tmp_path):
    names = checked_run(real_streams, Job("stream", 0, 2), tmp_path, "cpu")["names"]
    assert len(names) == 2
    for name, of in names.items():
        case = real_names.case_of(tiny, name)
        with real_streams.exchanged(tiny.model, (0, 1), case.first, case.title):
            expected = tiny.model(case.ids)[0][0, -1].argmax().item()
        assert of["note, title"] == {"other": case.ids[0, case.title].item(), "writes": expected}
        assert of["control, two before"]["other"] == case.ids[0, case.first - 2].item()


def test_the_controls_are_those_of_the_names(tmp_path):
    names = checked_run(real_streams, Job("controls", 0, 2), tmp_path, "cpu")["names"]
    recorded = checked_run(real_names, Job("names", 0, 2), tmp_path / "names", "cpu")["names"]
    for name, of in names.items():
        for step in ("notes", "finds"):
            assert of[step]["stretched"] == pytest.approx(recorded[name][step]["stretched"], abs=2e-3)
            assert set(of[step]["copied"]) <= {0, 1}


def test_shares_alone_add_up_to_the_logit(tmp_path):
    of = checked_run(real_streams, Job("alone", 0, 2), tmp_path, "cpu")
    parts = torch.tensor(of["heads"]).sum() + torch.tensor(of["feed_forward"]).sum() + of["word"]
    assert parts.item() == pytest.approx(of["whole"], abs=0.01)


def test_a_name_must_end_with_the_same_token_alone(monkeypatch):
    monkeypatch.setattr(real_streams, "ALONE", "5 {0} 3")
    with pytest.raises(ValueError, match="ends with the token"):
        real_streams.alone(Job("alone", 0, 1))
