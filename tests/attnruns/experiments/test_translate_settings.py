"""Settings of a search and of a draw: which are tried, and what is measured of each."""

from types import SimpleNamespace

import pytest

from attnruns.experiments import translate, translate_settings
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """The book's own sentences and an untrained translator of them take the place of the captions."""
    recipe = translate.RECIPES["tiny_de_en"]
    data, test = recipe.data(), translate_settings.TEST
    own = data._replace(tests={test: data.tests["test"]}, references={test: data.references["test"]})
    recipes = {translate_settings.MODEL: SimpleNamespace(data=lambda: own)}
    monkeypatch.setattr(translate_settings, "RECIPES", recipes)
    monkeypatch.setattr(translate_settings, "trained", lambda name, seed: recipe.build(own.sizes()).eval())
    monkeypatch.setattr(translate_settings, "WIDTHS", (1, 2))
    monkeypatch.setattr(translate_settings, "TEMPERATURES", (0.3, 1.0))


def test_width_1_is_greedy_with_any_penalty():
    for part in ("without_penalty", "with_penalty"):
        found = translate_settings.run(Job(part, 0, 3)).figures["widths"]
        assert list(found) == [1, 2]
        assert found[1]["gain"] == [0.0, 0.0, 0.0]


def test_each_temperature_has_its_draws():
    found = translate_settings.run(Job("draws", 0, 3)).figures["temperatures"]
    assert {name: len(of) for name, of in found.items()} == {"0.3": 3, "1": 3}
    assert all(one["gain"][1] <= one["gain"][0] <= one["gain"][2] for one in found["0.3"])
