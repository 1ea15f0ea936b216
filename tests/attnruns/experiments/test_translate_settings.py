"""Settings of a search and of a draw: which are tried, and what is measured of each."""

from types import SimpleNamespace

import pytest

from attnruns.experiments import translate, translate_settings
from attnruns.shared.runner import Job


@pytest.fixture
def tiny(monkeypatch):
    """The book's own sentences and an untrained translator of them take the place of the captions."""
    recipe = translate.RECIPES["tiny_de_en"]
    data, test = recipe.data(), translate_settings.TEST
    own = data._replace(tests={test: data.tests["test"]}, references={test: data.references["test"]})
    monkeypatch.setattr(translate_settings, "RECIPES", {"tiny": SimpleNamespace(data=lambda: own)})
    monkeypatch.setattr(translate_settings, "trained", lambda name, seed: recipe.build(own.sizes()).eval())
    monkeypatch.setattr(translate_settings, "WIDTHS", (1, 2))
    monkeypatch.setattr(translate_settings, "TEMPERATURES", (0.3, 1.0))


def test_each_setting_is_measured_and_compared_with_greedy(tiny):
    found = translate_settings.run(Job("tiny", 0, 3)).figures
    assert found["sentences"] == 3
    assert {alpha: list(by) for alpha, by in found["beams"].items()} == {"0": [1, 2], "0.6": [1, 2]}
    assert {name: len(draws) for name, draws in found["draws"].items()} == {"0.3": 3, "1": 3}
    every = [*found["beams"]["0"].values(), *found["beams"]["0.6"].values(), *found["draws"]["0.3"]]
    assert all(one["gain"][1] <= one["gain"][0] <= one["gain"][2] for one in every)


def test_width_1_is_greedy_with_any_penalty(tiny):
    beams = translate_settings.run(Job("tiny", 0, 3)).figures["beams"]
    assert beams["0"][1] == beams["0.6"][1]
    assert beams["0"][1]["gain"] == [0.0, 0.0, 0.0]
