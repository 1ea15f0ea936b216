"""More and more heads replaced at the last position of a tiny model in place of the real one; nothing is fetched."""

import pytest
from experiment_runs import checked_run
from tiny_pretrained import tiny_for_names

from attnbook.seeding import generator
from attnruns.experiments import real_model, real_more_finders, real_names
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(real_model, "common_words", lambda found: list(range(20, 60)))
    monkeypatch.setattr(real_more_finders, "COUNTS", (1, 2))
    best = {"induction": [[0.9, 0.1], [0.2, 0.8], [0.3, 0.1]]}  # the first two heads are in two layers
    monkeypatch.setattr(real_more_finders, "scores", lambda model, words: best)
    return tiny_for_names(monkeypatch, real_more_finders)


def test_a_run_measures_each_count_of_each_name(tiny, tmp_path):
    found = checked_run(real_more_finders, Job("counts", 0, 2), tmp_path, "cpu")
    assert found["order"] == [[1, 1], [2, 2]]
    (name, of), _ = found["names"].items()
    assert of.keys() == {"all", "1", "2"}
    case = real_names.case_of(tiny, name)
    text = real_names.Replaced(tiny.model, real_names.usual_means(tiny, 0), case.ids)
    heads = [(layer - 1, head - 1) for layer, head in found["order"]]
    logits = text.without(heads, case.ids.shape[1] - 1)
    assert of["2"]["without"] == pytest.approx(real_names.above_mean(logits, case.token), abs=2e-3)
    assert of["2"]["copied"] == int(logits.argmax() == case.token)
    assert [len(of["1"][key]) for key in ("stretched", "copied others")] == [2, 2]


def test_the_control_takes_other_heads_of_the_same_layers():
    heads, kept = [(1, 0), (1, 2), (4, 3)], {(1, 0), (1, 2), (4, 3), (1, 5)}
    drawn = real_more_finders.others_drawn(heads, kept, 9, generator(0))
    assert [layer for layer, _ in drawn] == [1, 1, 4]
    assert len(set(drawn)) == 3
    assert not kept & set(drawn)


def test_a_layer_with_too_few_others_is_refused():
    heads = [(0, 0), (0, 1)]
    with pytest.raises(ValueError, match="layer 0 has 1 other heads; the control needs 2"):
        real_more_finders.others_drawn(heads, set(heads), 3, generator(0))
