"""The experiment about names: what counts as right, and what each model is shown."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.symbols.names import WORDS, name_batch
from attnbook.data.texts.vocabulary import EOS
from attnruns.experiments import names
from attnruns.shared.runner import Job


def test_a_row_is_right_up_to_its_end_and_not_before():
    target = torch.tensor([[5, 6, EOS, 0], [5, 6, 7, EOS], [5, EOS, 0, 0], [5, 6, 7, EOS]])
    written = torch.tensor([[5, 6, EOS], [5, 6, 7], [5, EOS, EOS], [5, 9, 7]])
    assert names.share_right(written, target) == 0.5  # the second has no end
    longer = torch.tensor([[5, 6, EOS, EOS, EOS], [5, 6, 7, EOS, EOS], [5, EOS, 3, 3, 3], [5, 6, 7, 8, EOS]])
    assert names.share_right(longer, target) == 0.75


def test_only_the_model_that_copies_is_shown_names():
    batch = name_batch(5, 1)
    assert names.shown_to(names.build("pointer_generator"), batch) is batch
    shown = names.shown_to(names.build("plain"), batch)
    assert max(shown.source.max(), shown.target.max()) < len(WORDS)


@pytest.mark.slow
@pytest.mark.parametrize("name, best", once_on_the_card(["plain"]), indirect=["best"])
def test_a_run_measures_a_model(name, monkeypatch, best, tmp_path):
    monkeypatch.setattr(names, "TESTS", 50)
    monkeypatch.setattr(names, "EMBEDDING", 8)
    assert checked_run(names, Job(name, 0, 2), tmp_path, best, kept=True)["exact"] == 0.0
