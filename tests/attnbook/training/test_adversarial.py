"""Adversarial training: the hinge by hand, two rates, and a training that comes again and goes on."""

import re

import pytest
import torch

from attnbook.data.pictures.digit_pairs import digit_pairs
from attnbook.models.sagan import SAGAN, ImageDiscriminator, ImageGenerator
from attnbook.training.adversarial import fit_adversarially, hinge_losses
from attnbook.training.checkpoints import load_checkpoint
from attnbook.training.progress import listening


def fresh(seed=0):
    """Small networks."""
    torch.manual_seed(seed)
    return SAGAN(ImageGenerator(channels=16), ImageDiscriminator(channels=16))


def images(step):
    """Four real images."""
    return digit_pairs(4, 1_000 + step).image


def fit(model, steps, **more):
    """Train without a bar."""
    return fit_adversarially(model, images, steps, progress=False, **more)


def test_hinge_losses_by_hand():
    discriminator, generator = hinge_losses(torch.tensor([2.0, 0.5]), torch.tensor([-3.0, 0.25, -0.5]))
    assert discriminator.item() == pytest.approx((0 + 0.5) / 2 + (0 + 1.25 + 0.5) / 3)
    assert generator.item() == pytest.approx(3.25 / 3)


def test_signs_of_the_gradients():
    real, fake = torch.tensor([2.0, 0.5], requires_grad=True), torch.tensor([-3.0, 0.25], requires_grad=True)
    discriminator, generator = hinge_losses(real, fake)
    of_real, of_fake = torch.autograd.grad(discriminator, [real, fake])
    assert of_real.tolist() == [0, -0.5]  # a larger score of a real image lowers the loss, until it is 1
    assert of_fake.tolist() == [0, 0.5]
    assert torch.autograd.grad(generator, fake)[0].tolist() == [-0.5, -0.5]  # the generator wants larger scores, always


@pytest.mark.parametrize("real, fake", [(0, 2), (2, 0)])
def test_losses_of_nothing_are_refused(real, fake):
    with pytest.raises(ValueError, match=f"must hold a score at least, got {real} and {fake}"):
        hinge_losses(torch.zeros(real), torch.zeros(fake))


def test_the_first_step_is_the_one_by_hand():
    model, twin = fresh(), fresh()
    history = fit(model, 1, seed=3)
    twin.train()
    fake = twin.generator(twin.generator.noise(4, 1_000_003 * 4))
    optimisers = [
        torch.optim.Adam(network.parameters(), lr=rate, betas=(0.0, 0.9))
        for network, rate in ((twin.generator, 1e-3), (twin.discriminator, 2e-3))
    ]
    scores = twin.discriminator(torch.cat([images(0), fake.detach()]))
    loss = (1 - scores[:4]).clamp_min(0).mean() + (1 + scores[4:]).clamp_min(0).mean()
    loss.backward()
    optimisers[1].step()
    own = -twin.discriminator(fake).mean()
    optimisers[0].zero_grad()
    own.backward()
    optimisers[0].step()
    assert history.discriminator_losses == [pytest.approx(loss.item())]
    assert history.generator_losses == [pytest.approx(own.item())]
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_each_network_has_its_rate():
    model, before = fresh(), fresh()
    fit(model, 1, learning_rates=(0.0, 1e-3))
    same = [torch.equal(a, b) for a, b in zip(model.generator.parameters(), before.generator.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(model.discriminator.first.weight, before.discriminator.first.weight)
    model = fresh()
    fit(model, 1, learning_rates=(1e-3, 0.0))
    named = zip(model.discriminator.named_parameters(), before.discriminator.parameters(), strict=True)
    assert all(torch.equal(one, other) for (_, one), other in named)
    assert not torch.equal(model.generator.output.weight, before.generator.output.weight)


def test_the_same_seed_gives_the_same_training_and_another_seed_another_noise():
    runs = [fit(fresh(), 3, seed=seed) for seed in (0, 0, 1)]
    assert runs[0].generator_losses == runs[1].generator_losses
    assert runs[0].discriminator_losses == runs[1].discriminator_losses
    assert runs[0].generator_losses != runs[2].generator_losses


def test_a_resumed_training_ends_where_the_uninterrupted_one_does(tmp_path):
    whole, broken, resumed = fresh(), fresh(), fresh(seed=9)
    watch = lambda model: {"mean": model.sample(2).mean().item()}  # noqa: E731
    history = fit(whole, 4, watch=watch, watch_every=2)
    fit(broken, 2, watch=watch, watch_every=2, checkpoint=tmp_path / "gan.pt")
    again = fit(resumed, 4, watch=watch, watch_every=2, checkpoint=tmp_path / "gan.pt")
    assert again.generator_losses == history.generator_losses
    assert again.watched == history.watched
    for (name, one), other in zip(whole.state_dict().items(), resumed.state_dict().values(), strict=True):
        assert torch.equal(one, other), name


def test_somebody_may_watch_from_before_the_first_step_to_after_the_last_without_a_trace():
    seen = []

    def watch(model):
        assert not model.training
        assert not torch.is_grad_enabled()
        seen.append(model)
        return {"gamma": model.gammas()["generator"]}

    watched, alone = fresh(), fresh()
    history = fit(watched, 5, watch=watch, watch_every=2)
    assert [row["step"] for row in history.watched] == [0, 2, 4, 5]
    assert history.watched[0]["gamma"] == 0 != history.watched[-1]["gamma"]
    assert fit(alone, 5).generator_losses == history.generator_losses
    assert not watched.training
    assert all(parameter.requires_grad for parameter in watched.parameters())


def test_listeners_hear_of_each_step():
    heard = []
    with listening(lambda *told: heard.append(told), every=0):
        fit(fresh(), 3)
    steps, note = heard[-1]
    assert steps == 3
    assert re.fullmatch(r"losses \d+\.\d\d, -?\d+\.\d\d", note)


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    fit(fresh(), 1, checkpoint=tmp_path / "gan.pt")
    with pytest.raises(ValueError, match="give another path"):
        fit(fresh(), 2, seed=1, checkpoint=tmp_path / "gan.pt")
    torch.manual_seed(0)
    larger = SAGAN(ImageGenerator(), ImageDiscriminator())
    with pytest.raises(ValueError, match=r"holds another training: model\.\S+ is"):
        fit(larger, 2, checkpoint=tmp_path / "gan.pt")


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": 1, "watch_every": 0}])
def test_lengths_must_be_positive(wrong):
    with pytest.raises(ValueError, match="steps and watch_every must be at least 1"):
        fit(fresh(), **wrong)


def test_a_loss_that_is_no_number_ends_the_training():
    with pytest.raises(FloatingPointError, match="at step 0; try smaller learning_rates"):
        fit_adversarially(fresh(), lambda step: images(step) * float("nan"), 1, progress=False)


def test_an_interruption_leaves_a_discriminator_that_still_learns(monkeypatch):
    model, asked = fresh(), []

    def interrupted(image, forward=model.discriminator.forward):
        asked.append(len(image))
        if len(asked) == 2:  # the generator's step, in which the discriminator only passes the gradient on
            raise KeyboardInterrupt
        return forward(image)

    monkeypatch.setattr(model.discriminator, "forward", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(model, 1)
    assert all(parameter.requires_grad for parameter in model.discriminator.parameters())


def crack(model, step):
    """Let the generator's gradient be no number at ``step``, though the losses are numbers."""
    gradients = []

    def break_gradient(gradient):
        gradients.append(gradient)
        return gradient * float("nan") if len(gradients) == step + 1 else gradient

    next(model.generator.parameters()).register_hook(break_gradient)


def test_a_gradient_that_is_no_number_is_never_saved_and_smaller_rates_go_on(tmp_path):
    path, model = tmp_path / "gan.pt", fresh()
    crack(model, 3)
    message = r"the norm of the gradients of the ImageGenerator is nan at step 3; try smaller learning_rates; .* goes"
    with pytest.raises(FloatingPointError, match=message):
        fit(model, 4, watch_every=2, checkpoint=path)
    assert all(tensor.isfinite().all() for tensor in model.state_dict().values())
    assert len(load_checkpoint(path)["history"]["generator_losses"]) == 2
    with pytest.raises(ValueError, match=r"learning_rates\.0 is 0\.001 there and 0\.002 here"):
        fit(fresh(), 4, watch_every=2, checkpoint=path, learning_rates=(2e-3, 2e-3))
    model = fresh()
    assert fit(model, 4, watch_every=2, checkpoint=path, learning_rates=(0.0, 1e-3)).steps == 4
    before = load_checkpoint(path)["model"]
    fit(model, 5, checkpoint=path, learning_rates=(0.0, 0.0))
    after = load_checkpoint(path)["model"]
    assert all(torch.equal(before[name], after[name]) for name, _ in model.named_parameters())  # the new rates count


def test_a_checkpoint_of_other_images_is_refused(tmp_path):
    fit(fresh(), 1, checkpoint=tmp_path / "gan.pt")
    with pytest.raises(ValueError, match=r"holds another training: batch\.holds\.digest is"):
        fit_adversarially(fresh(), lambda step: -images(step), 2, checkpoint=tmp_path / "gan.pt", progress=False)
