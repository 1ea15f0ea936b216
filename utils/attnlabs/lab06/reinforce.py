"""Lab 6, the learning rule: a loss whose gradient is REINFORCE with the mean of the other draws as the baseline."""

import torch

from misread.exercise import About, Exercise


def reinforce_loss(log_probs, rewards, mask):
    """REINFORCE with the mean of the other draws as baseline: (B, N, T), (B, N), (B, T) -> ()."""
    others = (rewards.sum(dim=1, keepdim=True) - rewards) / (rewards.shape[1] - 1)  # (B, N): without a draw's own
    advantage = (rewards - others).detach()  # (B, N)
    log_prob = (log_probs * mask[:, None]).sum(dim=-1)  # (B, N, T) * (B, 1, T) -> (B, N)
    return -(advantage * log_prob).mean()


def _draws(draw):
    batch, samples, words = draw.sizes(3, never_one={1})  # a single draw has no others beside it
    for b, n, t in ((batch, samples, words), (2, 3, 2), (3, 3, 3), (2, 2, 4), (1, 2, 3), (2, 4, 4)):
        mask = torch.arange(t) < draw.lengths(b, t)[:, None]
        yield -draw.normal(b, n, t).abs() - 0.1, 2 * draw.normal(b, n) + 1, mask
    mask = torch.tensor([[True, False], [False, False]])  # a caption without words
    yield -draw.normal(2, 3, 2).abs() - 0.1, 2 * draw.normal(2, 3) + 1, mask


def _shift(result, log_probs, rewards, mask):
    """Whether the answer's value is as independent of a constant in the rewards as the right one."""
    return torch.allclose(result, reinforce_loss(log_probs, rewards, mask), atol=1e-9)


REINFORCE_LOSS = Exercise(
    reinforce_loss,
    cases=_draws,
    about=About(points=4, minutes=30, difficulty=4, read_again="A baseline from the other draws"),
)

must = REINFORCE_LOSS.properties
must("advantage times log-probability", _shift).says("""
    Each draw counts with its advantage, its reward minus the mean reward of the *other* draws for the same image, times
    the sum of its log-probabilities at real words. The loss is minus the mean of these products over all images and
    draws.""")

wrong = REINFORCE_LOSS.mistakes
OTHERS = "(rewards.sum(dim=1, keepdim=True) - rewards) / (rewards.shape[1] - 1)"
MEAN = "(advantage * log_prob).mean()"
wrong("gradient through the reward", {".detach()": ""}).says("""
    Your value is right, but a gradient flows into `rewards`, directly or through the baseline. The rewards only weigh
    the gradient of the log-probabilities; a second gradient through them is not part of the estimate. Detach the whole
    advantage.""")
wrong("no gradient at all", {MEAN: "(advantage * log_prob.detach()).mean()"}).says("""
    Your value is right, but you cut off the log-probabilities, and their gradient is all that this loss is for. Detach
    the advantage, and leave `log_probs` as it is.""")
wrong("wrong sign", {"return -": "return "}).says("""
    Your loss has the opposite sign. An optimizer makes the loss *smaller*, so that yours would make draws with a good
    reward less likely: put a minus before the mean.""")
wrong("no baseline", {"rewards - others": "rewards"}).says("""
    You multiplied by the reward itself, without a baseline. The gradient would be right on average, but it varies much
    more from draw to draw: subtract the mean reward of the other draws for the same image.""")
wrong("no baseline, wrong sign", {"rewards - others": "rewards", "return -": "return "}).says("""
    You multiplied by the reward itself, without a baseline, and forgot the minus. Subtract the mean reward of the other
    draws for the same image; and as an optimizer makes the loss smaller, the loss is *minus* the mean.""")
wrong("own reward in the baseline", {OTHERS: "rewards.mean(dim=1, keepdim=True)"}).says("""
    Your baseline is the mean over all draws for an image, in which the draw's own reward takes part. Then it depends on
    the draw, and the gradient is too small by the factor (N − 1) / N: with two draws it is halved. Leave the draw's own
    reward out and divide by N − 1.""")
wrong(
    "own reward in the baseline, wrong sign", {OTHERS: "rewards.mean(dim=1, keepdim=True)", "return -": "return "}
).says("""
    Your baseline contains the draw's own reward, so it depends on the draw, and the loss lacks its minus. Take the mean
    reward of the *other* N − 1 draws, and return minus the mean of the products.""")
wrong("divided by N", {"(rewards.shape[1] - 1)": "rewards.shape[1]"}).says("""
    You summed the rewards of the others, but divided by N. There are only N − 1 other draws, so your baseline is too
    close to 0.""")
wrong("mean over the batch", {OTHERS: "rewards.mean()"}).says("""
    Your baseline is the mean over all images and draws. It contains the draw's own reward, and it ignores that one
    image is harder than another: take the other draws for the *same* image.""")
wrong("mean over the images", {OTHERS: "rewards.mean(dim=0, keepdim=True)"}).says("""
    You averaged over the images, which are axis 0. The draws for the same image stand along axis 1, and only they say
    what reward this image lets one expect.""")
wrong(
    "other images instead of other draws",
    {OTHERS: "(rewards.sum(dim=0, keepdim=True) - rewards) / max(rewards.shape[0] - 1, 1)"},
).says("""
    You took the mean over the other *images* (axis 0). The draws for the same image stand along axis 1, and only they
    say what reward this image lets one expect.""")
OTHER_IMAGES = "(rewards.sum(dim=0, keepdim=True) - rewards) / (rewards.shape[0] - 1)"
wrong("other images instead of other draws, 0 / 0 with a single one", {OTHERS: OTHER_IMAGES}).says("""
    You took the mean over the other *images* (axis 0). With a batch of one there is no other image, so that you divide
    0 by 0. The draws for the same image stand along axis 1: sum over `dim=1`, and divide by N − 1.""")
wrong(
    "only the own reward divided", {OTHERS: "rewards.sum(dim=1, keepdim=True) - rewards / (rewards.shape[1] - 1)"}
).says("""
    Division comes before subtraction, so you divided only the draw's own reward by N − 1. Put brackets around the
    difference, which is the sum of the others: `(sum - rewards) / (N - 1)`.""")
wrong("baseline outside the product", {MEAN: "(rewards.detach() * log_prob - others.detach()).mean()"}).says("""
    You subtracted the baseline from the product of reward and log-probability. It is subtracted from the *reward*, and
    the difference is multiplied: put brackets around `rewards - baseline`. Otherwise it has no effect on the
    gradient.""")
wrong("the previous draw's reward", {OTHERS: "rewards.roll(1, dims=1)"}).says("""
    Your baseline is the reward of the draw before. This is not biased, but the mean of *all* other draws varies
    less.""")
BEST_OTHER = "rewards[:, None].masked_fill(torch.eye(rewards.shape[1]) > 0, -torch.inf).amax(-1)"
wrong("the mirrored draw's reward", {OTHERS: "rewards.flip(1)"}).says("""
    Your baseline is the reward of the draw at the mirrored position (`flip`). This is right for two draws only: of
    three, the middle one would meet itself. Take the mean of *all* other draws.""")
wrong("the best other draw as baseline", {OTHERS: BEST_OTHER}).says("""
    Your baseline is the best reward of the other draws, so that nearly every advantage is negative. Take their
    *mean*.""")
wrong("the next draw's reward", {OTHERS: "rewards.roll(-1, dims=1)"}).says("""
    Your baseline is the reward of one other draw. This is not biased, but the mean of *all* other draws varies
    less.""")
wrong("padding counted", {" * mask[:, None]": ""}).says("""
    You added the log-probabilities at padding, too. What was drawn there is part of no caption and earned no reward:
    multiply by the mask, which needs an axis for the draws, `mask[:, None]`.""")
SUM = "(log_probs * mask[:, None]).sum(dim=-1)"
wrong("summed over the draws", {"sum(dim=-1)": "sum(dim=1)"}).says("""
    You added the log-probabilities over the draws, which are axis 1. Add those of the words of each draw, along the
    last axis, so that (B, N, T) becomes (B, N).""")
wrong("mask along the draws", {"mask[:, None]": "mask[..., None]"}).says("""
    You laid the mask along the draws. It belongs to the words, the last axis of `log_probs`: `mask[:, None]` has the
    shape (B, 1, T). Yours, (B, T, 1), fits only by chance, where N and T are equal.""")
wrong("mask without an axis for the draws", {"mask[:, None]": "mask"}).says("""
    Your mask, (B, T), has no axis for the draws, so that its rows meet the draws or do not fit at all. Put an axis in:
    `mask[:, None]`, (B, 1, T).""")
wrong(
    "padding filled with minus infinity",
    {"log_probs * mask[:, None]": "log_probs.masked_fill(~mask[:, None], -torch.inf)"},
).says("""
    The log-probabilities at padding are −∞ in your sum (by `masked_fill`, or as the logarithm of 0), which leads to
    NaN. Here log-probabilities are added, and a word that does not count adds 0.""")
wrong("averaged over the words", {SUM: f"{SUM} / mask.sum(-1, keepdim=True).clamp(min=1)"}).says("""
    You averaged the log-probabilities over the words. The probability of a whole draw is the product of those of its
    words, so their logarithms are added: take the sum over the real words.""")
wrong("probability instead of its logarithm", {SUM: f"{SUM}.exp()"}).says("""
    You multiplied the advantage by the probability of the draw. The estimate needs the *logarithm* of the probability,
    which `log_probs` already holds: leave `exp` out.""")
wrong("captions without words left out", {MEAN: "(advantage * log_prob)[mask.any(1)].mean()"}).says("""
    You left captions without any real word out of the mean. They contribute 0 to the sum, and the mean still runs over
    all B · N draws.""")
wrong("means before the product", {MEAN: "(advantage.mean() * log_prob.mean())"}).says("""
    Your loss is always 0. The advantages of an image sum to 0, and so do all products from which the mean of the others
    is subtracted. Multiply each draw's advantage by the log-probability of *this* draw (and not by a mean, or by
    exp(log p − log p) = 1), and take the mean afterwards.""")
wrong("logarithm of a logarithm", {"(log_probs * mask": "((-log_probs).log() * mask"}).says("""
    You took a logarithm again, although `log_probs` already holds the logarithms of probabilities.""")
wrong("the first word only", {"(log_probs * mask[:, None]).sum(dim=-1)": "log_probs[..., 0]"}).says("""
    You used the log-probability of the first word only. A draw consists of one position per word: add those of all
    real words.""")
LOGS = "log_probs.masked_fill(~mask[:, None], 1.0).prod(dim=-1)"
wrong("product of the logarithms", {"(log_probs * mask[:, None]).sum(dim=-1)": LOGS}).says("""
    You multiplied the log-probabilities of the words. Probabilities are multiplied, and so their logarithms are
    added.""")
wrong(
    "normalised", {"(rewards - others).detach()": "((rewards - others) / rewards.std(1, keepdim=True)).detach()"}
).says("""
    You divided the advantage by the standard deviation of the rewards. This is another estimator, whose gradient has
    another length; here the advantage is the plain difference.""")
WHOLE = "(rewards - others).detach()"
OWN = "((rewards - others) / (rewards - others).std(1, keepdim=True)).detach()"
wrong("the best draw as baseline", {OTHERS: "rewards.amax(1, keepdim=True)"}).says("""
    Your baseline is the best reward of an image. It depends on the draw itself if this draw is the best, so the
    estimate is biased. Take the mean reward of the *other* draws.""")
wrong("the median as baseline", {OTHERS: "rewards.median(1, keepdim=True).values"}).says("""
    Your baseline is the median of all draws, in which the draw's own reward takes part. Take the mean reward of the
    *other* draws.""")
INVERSE = "(rewards - rewards.mean(1, keepdim=True)) * (rewards.shape[1] - 1) / rewards.shape[1]"
wrong("corrected by the inverse factor", {"(rewards - others)": f"({INVERSE})"}).says("""
    You multiplied the difference from the mean of *all* draws by (N − 1) / N. That difference is already too small by
    this factor: N / (N − 1) makes it the difference from the mean of the others.""")
wrong("divided by the number of other images", {"(rewards.shape[1] - 1)": "(rewards.shape[0] - 1)"}).says("""
    You divided by B − 1, the number of other images. A baseline is the mean over the other *draws*, and there are N − 1
    of them: N is `rewards.shape[1]`.""")
wrong("sum of the rewards, without keepdim", {"dim=1, keepdim=True": "dim=1"}).says("""
    Your sum of the rewards has the shape (B,), so that the images would meet the draws. Keep the axis, (B, 1):
    `rewards.sum(dim=1, keepdim=True)`.""")
wrong("the first draw as baseline", {OTHERS: "rewards[:, :1]"}).says("""
    Your baseline is the reward of the first draw, for the first draw itself, too. Its advantage is then always 0. Take
    the mean reward of the *other* draws.""")
wrong("own reward in the sum", {" - rewards) / (": ") / ("}).says("""
    You divided the sum of *all* rewards by N − 1. Subtract the draw's own reward from the sum first, so that N − 1
    rewards are left.""")
wrong("own reward in the baseline, without keepdim", {OTHERS: "rewards.mean(dim=1)"}).says("""
    Your baseline is the mean over all draws, the draw's own reward too, and it has the shape (B,), so that the images
    would meet the draws. Take the sum with `keepdim=True`, subtract the own reward, and divide by N − 1.""")
wrong("divided by the words of one draw", {MEAN: "(advantage * log_prob).sum() / mask.sum()"}).says("""
    You divided by the number of real words. The mean runs over images and draws, B · N of them, and the
    log-probabilities of the words are summed.""")
wrong("all other draws of the batch", {OTHERS: "(rewards.sum() - rewards) / (rewards.numel() - 1)"}).says("""
    Your baseline is the mean over all other draws of the batch. Draws for other images say little about what to expect
    of this one: take the other draws for the *same* image.""")
EARLIER = "(rewards.cumsum(1) - rewards) / torch.arange(rewards.shape[1]).clamp(min=1)"
wrong("earlier draws as baseline", {OTHERS: EARLIER}).says("""
    Your baseline is the mean of the draws *before* this one, so the first draw has none. The draws have no order: take
    the mean of all others.""")
