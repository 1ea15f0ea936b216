"""A judge can judge, comes again for the same seed, and disturbs nobody while it is trained."""

import pytest
import torch

from attnbook.data.pictures.captions import digit_images
from attnbook.training.progress import listening
from attnruns.shared.judge import Judge, JudgeNetwork, judge_accuracy, trained_judge


@pytest.fixture(scope="module")
def judge() -> Judge:
    """A judge that was hardly trained."""
    return trained_judge(steps=3)


def test_a_judge_takes_any_leading_axes_and_decides_by_its_features(judge):
    digits = digit_images()[0][:6].view(3, 2, 8, 8)
    features = judge.features(digits)
    assert features.shape == (3, 2, 64)
    assert judge(digits).shape == (3, 2)
    assert torch.equal(judge.network.output(features).argmax(dim=-1), judge(digits))
    torch.testing.assert_close(judge.features(digits[1]), features[1])


def test_the_same_judge_comes_again_and_no_random_number_is_disturbed(judge):
    assert trained_judge(steps=3) is judge
    state = torch.get_rng_state()
    again = trained_judge.__wrapped__(steps=3)
    assert torch.equal(torch.get_rng_state(), state)
    for one, other in zip(judge.network.parameters(), again.network.parameters(), strict=True):
        assert torch.equal(one, other)


def test_who_counts_the_steps_of_an_experiment_does_not_hear_of_the_judges():
    heard = []
    with listening(lambda *told: heard.append(told), every=0):
        trained_judge.__wrapped__(steps=2)
    assert heard == []


def test_accuracy_counts_held_out_digits():
    class Knowing(Judge):
        def __call__(self, digits):
            labels = digit_images(held_out=True)[1].clone()
            labels[0] += 1
            return labels

    assert judge_accuracy(Knowing(JudgeNetwork())) == pytest.approx(396 / 397)


@pytest.mark.slow
def test_a_judge_names_held_out_digits():
    assert judge_accuracy(trained_judge()) > 0.96
