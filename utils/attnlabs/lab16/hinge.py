"""Lab 16: what the discriminator and the generator minimise."""

import torch

from misread.exercise import About, Exercise


def hinge_losses(real, fake):
    """Scores of real and of generated images, any shape -> the discriminator's and the generator's loss."""
    discriminator = (1 - real).relu().mean() + (1 + fake).relu().mean()  # ()
    return discriminator, -fake.mean()  # (), ()


def _scores(draw):
    reals, fakes, height, width = draw.sizes(4, low=3)

    def drawn(real, fake):
        scores = 2 * draw.normal(*real), 2 * draw.normal(*fake)
        for one, sign in zip(scores, (1, -1), strict=True):
            first = one.view(-1)[:2]  # beyond the margin, and on the right side of 0 only
            first.copy_(sign * torch.tensor([1.6, 0.4])[: len(first)])
        return scores

    if draw.compact:
        yield drawn((2,), (2,))
        yield drawn((3,), (2,))
    yield drawn((reals,), (fakes,))
    yield drawn((fakes,), (reals,))
    yield drawn((4,), (4,))
    yield drawn((reals, 1), (fakes, 1))  # as a linear layer gives them
    yield drawn((reals, height, width), (fakes, height, width))  # a score per patch
    yield drawn((1, 1, 3), (1, 1, 2))
    yield 2 + draw.uniform(reals), -2 - draw.uniform(fakes)  # all beyond the margin: nothing to learn
    yield -1 - draw.uniform(reals), 1 + draw.uniform(fakes)  # all wrong


HINGE_LOSSES = Exercise(
    hinge_losses,
    cases=_scores,
    returns=("discriminator", "generator"),
    about=About(points=2, minutes=15, difficulty=2, read_again="A GAN in one page"),
)

must = HINGE_LOSSES.properties
must("the discriminator's loss is never negative", lambda result, *args: result[0] >= -1e-9).says("""
    A hinge is cut off at 0, so the loss of the discriminator is never below 0.""")
must(
    "beyond the margin nothing is lost",
    lambda result, real, fake: (real < 1).any() or (fake > -1).any() or abs(result[0]) < 1e-9,
).says("""
    Where each real score is above 1 and each fake score below −1, the discriminator's loss is 0.""")

_REAL, _FAKE, _GENERATOR = "(1 - real).relu().mean()", "(1 + fake).relu().mean()", "-fake.mean()"
_BOTH = f"{_REAL} + {_FAKE}"

wrong = HINGE_LOSSES.mistakes
wrong("all signs exchanged", {"1 - real": "1 + real", "1 + fake": "1 - fake", _GENERATOR: "fake.mean()"}).says("""
    You exchanged the signs of all scores, as if fake images were to be scored high. The discriminator wants real scores
    above 1 and fake scores below −1, and the generator wants high scores for its images.""")
wrong("the discriminator's signs exchanged", {"1 - real": "1 + real", "1 + fake": "1 - fake"}).says("""
    In the discriminator's loss you exchanged the signs. A real score costs something below 1, relu(1 − real), and a
    fake score above −1, relu(1 + fake).""")
wrong("the same sign for both", {"1 + fake": "1 - fake"}).says("""
    You treated fake scores as real ones, so the discriminator would score all images high. A fake score costs something
    where it is above −1, which is relu(1 + fake).""")
wrong("the generator's sign exchanged", {_GENERATOR: "fake.mean()"}).says("""
    Your generator would lower the scores of its own images. It minimises its loss, and it wants high scores, so its
    loss is minus their mean.""")
wrong("a hinge for the generator", {_GENERATOR: "(1 - fake).relu().mean()"}).says("""
    You gave the generator a hinge, too. Its loss is only −mean(fake): a score above 1 still gives a gradient, because
    the generator may always improve.""")
wrong("the discriminator's hinge for the generator", {_GENERATOR: _FAKE}).says("""
    Your generator minimises relu(1 + fake), the discriminator's cost of its images, so it would lower their scores as
    the discriminator does. It wants high scores: −mean(fake), without a margin and without a cut.""")
wrong("minus the discriminator's hinge for the generator", {_GENERATOR: f"-{_FAKE}"}).says("""
    Your generator's loss is minus relu(1 + fake), which is cut off: below −1 no gradient would reach the generator,
    just when it is worst. Its loss is −mean(fake), without a margin and without a cut.""")
wrong("the generator's loss cut off at 0", {_GENERATOR: "(-fake).relu().mean()"}).says("""
    You cut the generator's loss off at 0. Its loss is −mean(fake) without a cut, so that a positive score still gives a
    gradient.""")
wrong("not cut off", {".relu().mean() +": ".mean() +", "fake).relu()": "fake)"}).says("""
    You left out the cut at 0, so scores far beyond the margin still lower the discriminator's loss. Each single score
    is cut off: relu(1 − real) and relu(1 + fake).""")
wrong("cut off after the mean", {_REAL: "(1 - real).mean().relu()", _FAKE: "(1 + fake).mean().relu()"}).says("""
    You took the mean first and cut off afterwards, so one score far beyond the margin makes up for another that is
    wrong. Cut off each single score, and then take the mean.""")
wrong("cut off after the sum of both", {_BOTH: "(2 - real.mean() + fake.mean()).relu()"}).says("""
    You added everything and cut off once. Each single score is cut off at 0, and then the means of the real and of the
    fake ones are added.""")
CLAMPED = {_REAL: "(1 - real).clamp(0, 1).mean()", _FAKE: "(1 + fake).clamp(0, 1).mean()"}
wrong("cut off at 1 as well", CLAMPED).says("""
    You cut what is missing off at 1, too, so a real score below 0 costs no more than a score of 0, and gives no
    gradient just where the discriminator is most wrong. It is cut off at 0 only: relu(1 − real) and relu(1 + fake).""")
wrong("only what lies beyond the margin", {"1 - real": "real - 1", "1 + fake": "-1 - fake"}).says("""
    You kept the part of each score that lies beyond the margin, so scores that need no change cost something and wrong
    ones nothing. A score costs what is *missing* to the margin: relu(1 − real) and relu(1 + fake).""")
wrong("the fake scores left out", {_BOTH: _REAL}).says("""
    Your discriminator's loss contains only the real scores, so it could score all images high. Add the mean over the
    fake scores, each of which costs relu(1 + fake).""")
wrong("the real scores left out", {_BOTH: _FAKE}).says("""
    Your discriminator's loss contains only the fake scores, so it could score all images low. Add the mean over the
    real scores, each of which costs relu(1 − real).""")
wrong("no margin", {"1 - real": "-real", "1 + fake": "fake"}).says("""
    You left out the margin of 1, so the discriminator is content as soon as the signs are right. A real score must
    exceed 1, relu(1 − real), and a fake one must be below −1, relu(1 + fake).""")
wrong(
    "summed", {_REAL: "(1 - real).relu().sum()", _FAKE: "(1 + fake).relu().sum()", _GENERATOR: "-fake.sum()"}
).says("""
    You added the scores up, so the losses grow with the size of the batch. Take the mean over all real scores, and the
    mean over all fake ones.""")
wrong("summed by the discriminator", {_REAL: "(1 - real).relu().sum()", _FAKE: "(1 + fake).relu().sum()"}).says("""
    In the discriminator's loss you added the costs up, so it grows with the size of the batch. Take the mean over all
    real scores, and the mean over all fake ones, and add these two.""")
wrong(
    "mean over real and fake together", {_BOTH: "torch.cat([(1 - real).flatten(), (1 + fake).flatten()]).relu().mean()"}
).says("""
    You took one mean over all scores. Take the mean of the real ones and the mean of the fake ones separately, and add
    the two, so that both kinds count the same whatever their numbers are.""")
wrong(
    "twice the mean over both", {_BOTH: "2 * torch.cat([(1 - real).flatten(), (1 + fake).flatten()]).relu().mean()"}
).says("""
    You took twice the mean over all scores, which is right only for as many real scores as fake ones. Take the mean of
    the real ones and the mean of the fake ones separately, and add the two.""")
COSTLY = {f"{name}.mean()": f"{name}.sum() / ({name} > 0).sum().clamp(min=1)" for name in (_REAL[:-7], _FAKE[:-7])}
wrong("mean over those that cost something", COSTLY).says("""
    You took the mean over the scores that cost something. Scores beyond the margin cost 0 and count, too: divide by the
    number of all real scores, and by that of all fake ones.""")
SUMS = {_REAL: "(1 - real).relu().sum() / len(real)", _FAKE: "(1 + fake).relu().sum() / len(fake)"}
wrong("summed over the patches", SUMS | {_GENERATOR: "-fake.sum() / len(fake)"}).says("""
    You divided by the number of images alone, so with a score for each patch the losses grow with the number of
    patches. Take the mean over all scores.""")
wrong("summed over the patches by the discriminator", SUMS).says("""
    In the discriminator's loss you divided by the number of images alone, so with a score for each patch it grows with
    the number of patches. Take the mean over all scores.""")
wrong("divided by the number of real scores", {_FAKE: "(1 + fake).relu().sum() / real.numel()"}).says("""
    You divided the costs of the fake scores by the number of real ones, which is right only for as many real scores as
    fake ones. Take the mean of each kind over its own number.""")
wrong("squared", {_REAL: "(1 - real).relu().square().mean()", _FAKE: "(1 + fake).relu().square().mean()"}).says("""
    You squared the hinges. Here the discriminator's loss is linear: what is missing to the margin counts as it is.""")
LOGISTIC = {_REAL: "F.softplus(-real).mean()", _FAKE: "F.softplus(fake).mean()"}
wrong("the logistic loss for the discriminator", LOGISTIC).says("""
    You used the logistic loss (binary cross-entropy) of the first GANs for the discriminator. The hinge loss is
    relu(1 − real) and relu(1 + fake), which is exactly 0 beyond the margin.""")
wrong("the logistic loss", LOGISTIC | {_GENERATOR: "F.softplus(-fake).mean()"}).says("""
    You used the logistic loss (binary cross-entropy) of the first GANs. The hinge loss is relu(1 − real) and
    relu(1 + fake) for the discriminator, and −mean(fake) for the generator.""")
wrong("the logistic loss for the generator", {_GENERATOR: "F.softplus(-fake).mean()"}).says("""
    You used the logistic loss (binary cross-entropy) of the first GANs for the generator. Its loss is −mean(fake): the
    mean score itself, without a logarithm.""")
PROBABILITIES = {"discriminator = ": "real, fake = real.sigmoid(), fake.sigmoid()\n    discriminator = "}
wrong("probabilities instead of scores", PROBABILITIES).says("""
    You sent the scores through a sigmoid, which squeezes them between 0 and 1, so no score could reach the margins at 1
    and −1. Scores are any real numbers: use them as they are.""")
wrong("the real scores for the generator", {_GENERATOR: "-real.mean()"}).says("""
    Your generator's loss is made of the real scores, on which the generator has no influence. It wants high scores for
    its own images: −mean(fake).""")
LARGEST = {_REAL: "(1 - real).relu().max()", _FAKE: "(1 + fake).relu().max()"}
wrong("the largest instead of the mean", LARGEST).says("""
    You took the largest hinge of each side (`max`). Cut off each score at 0, and then take the mean over all of
    them.""")
wrong("the real scores in the generator's loss", {_GENERATOR: "real.mean() - fake.mean()"}).says("""
    The generator's loss contains the real scores. The generator has no influence on them, so its loss is −mean(fake)
    alone.""")
wrong(
    "minus the discriminator's loss", {"return discriminator, -fake.mean()": "return discriminator, -discriminator"}
).says("""
    Your generator maximises the discriminator's loss, in which each fake score is cut off: below −1 no gradient would
    reach the generator, just when it is worst. Its loss is −mean(fake).""")
wrong("fake scores detached", {"1 + fake": "1 + fake.detach()"}).says("""
    Your values are right, but you detached the fake scores in the discriminator's loss, so the discriminator learns
    nothing from fake images. The fake *images* are detached before they are scored, never the scores.""")
wrong("the Wasserstein loss", {_BOTH: "fake.mean() - real.mean()"}).says("""
    You used the difference of the mean scores, as a Wasserstein GAN does. The hinge loss has a margin and is cut off
    for each score: relu(1 − real) and relu(1 + fake).""")
wrong("absolute values", {_REAL: "(1 - real).abs().mean()", _FAKE: "(1 + fake).abs().mean()"}).says("""
    You took absolute values, so a score beyond the margin costs something, too. What is missing is cut off at 0, with
    relu, so that only scores short of the margin cost anything.""")
SQUARES = {_REAL: "(1 - real).square().mean()", _FAKE: "(1 + fake).square().mean()"}
wrong("least squares", SQUARES | {_GENERATOR: "(1 - fake).square().mean()"}).says("""
    You used squared differences from 1 and −1, as a least-squares GAN does, so that scores beyond the margin cost
    something, too. The hinge loss is relu(1 − real), relu(1 + fake), and −mean(fake) for the generator.""")
wrong("least squares for the discriminator", SQUARES).says("""
    You squared the differences from 1 and −1, so that scores beyond the margin cost something, too. What is missing is
    cut off at 0, with relu, and counts as it is.""")
