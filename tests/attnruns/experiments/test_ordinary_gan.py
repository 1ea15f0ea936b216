"""The ordinary GAN: every pixel may depend on the one noise vector, and a local score on both digits."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.data.pictures.digit_pairs import HEIGHT, WIDTH
from attnruns.experiments import ordinary_gan
from attnruns.results import load_result
from attnruns.shared.runner import Job


def test_the_noise_is_one_vector_per_canvas_and_another_for_each():
    noise = ordinary_gan.build("one_noise_vector").generator.noise(3)
    assert noise.shape == (3, 16, 2, 8)
    assert torch.equal(noise, noise[:, :, :1, :1].expand_as(noise))
    assert not torch.equal(noise[0], noise[1])


def test_a_local_score_depends_on_both_digits_without_attention():
    model = ordinary_gan.build("one_noise_vector").eval()
    assert model.gammas() == {"generator": None, "discriminator": None}
    images = torch.rand(4, 1, HEIGHT, WIDTH).requires_grad_()
    model.discriminator.local_scores(images)[..., 4].sum().backward()
    reached = images.grad.abs().amax(dim=(0, 1, 2)) > 0
    assert reached[:8].any()
    assert reached[24:].any()


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no model is called"):
        ordinary_gan.build("two_noise_vectors")


@pytest.mark.slow
def test_a_run_counts_agreement_beside_chance(tmp_path, monkeypatch):
    monkeypatch.setattr(ordinary_gan, "TESTS", 12)
    figures = checked_run(ordinary_gan, Job("one_noise_vector", 1, 2), tmp_path, "cpu")
    assert 0 <= figures["neighbour_chance"] <= 1


def test_the_record_has_three_seeds():
    runs = load_result("ordinary_gan")["runs"]
    assert sorted((run["model"], run["seed"]) for run in runs) == [("one_noise_vector", seed) for seed in (0, 1, 2)]
    assert all(run["steps"] == 2000 for run in runs)
