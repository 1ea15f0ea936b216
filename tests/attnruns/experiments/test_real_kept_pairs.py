"""SmolLM2 with halved pairs, here with a tiny model in its place."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.attention import rotary_frequencies
from attnbook.device import best_device
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import longer_than_trained, real_kept_pairs
from attnruns.shared.runner import Job


@pytest.mark.parametrize("name, best", once_on_the_card(real_kept_pairs.WAYS), indirect=["best"])
def test_a_run_has_a_share_of_each_gap(name, best, tmp_path, monkeypatch):
    def tiny() -> Pretrained:
        model = LanguageModel(130, TransformerConfig(d_model=16, heads=2, layers=1, max_length=20)).eval()
        return Pretrained(model.to(best_device()), None, ())

    monkeypatch.setattr(longer_than_trained, "pretrained", tiny)
    monkeypatch.setattr(longer_than_trained, "common_words", lambda found: list(range(90, 130)))
    monkeypatch.setattr(longer_than_trained, "text_tokens", lambda found: torch.arange(90))
    for key, value in {"LISTS": 2, "WORDS": 5, "CHUNK": 8, "GAPS": (0, 16, 40, 80)}.items():
        monkeypatch.setattr(longer_than_trained, key, value)
    assert set(checked_run(real_kept_pairs, Job(name, 0, 40), tmp_path, best)["copied"]) == {"0", "16", "40"}


def test_pairs_with_three_turns_keep_their_speed_and_the_others_are_halved():
    old = rotary_frequencies(16)
    ratio = real_kept_pairs.frequencies(16, 24, 10_000, 3.0) / old
    assert ratio.tolist() == [1.0] + 7 * [0.5]  # the chapter's copier: the fastest pair alone
    torch.testing.assert_close(real_kept_pairs.frequencies(16, 24, 10_000, None) / old, ratio)
    real = real_kept_pairs.frequencies(64, 8192, 100_000, 3.0) / rotary_frequencies(64, 100_000)
    assert [(real == share).sum().item() for share in (1, 0.5)] == [17, 15]
