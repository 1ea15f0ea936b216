"""Lab 16: a residual connection whose attention is switched on by a learnt factor."""

import torch

from misread.exercise import About, Exercise


def gated_residual(x, attended, gamma):
    """The map plus γ times what was attended to: (B, C, H, W), (B, C, H, W), () -> (B, C, H, W)."""
    return x + gamma * attended  # (B, C, H, W)


def _gated(draw):
    batch, channels, height, width = draw.sizes(4)

    def drawn(gamma, *sizes):
        return draw.normal(*sizes), draw.normal(*sizes), torch.tensor(gamma, dtype=torch.float64)

    if draw.compact:
        yield drawn(0.5, 1, 1, 1, 2)
        yield drawn(0.0, 1, 1, 1, 2)
    yield drawn(0.3, batch, channels, height, width)
    yield drawn(0.0, batch, channels, height, width)  # as at the start: γ's gradient must arrive even so
    yield drawn(-1.4, batch, channels, height, width)
    yield drawn(2.5, 3, 3, 3, 3)


GATED_RESIDUAL = Exercise(
    gated_residual,
    cases=_gated,
    about=About(points=1, minutes=8, difficulty=1, read_again="Attention over a feature map"),
)

must = GATED_RESIDUAL.properties
must("γ = 0 changes nothing", lambda result, x, attended, gamma: gamma != 0 or torch.equal(result, x)).says("""
    With γ = 0 the map must come out as it went in, so that training starts with a purely convolutional network.""")

_SUM, _PRODUCT = "x + gamma * attended", "gamma * attended"

wrong = GATED_RESIDUAL.mistakes
wrong("γ before the map", {_SUM: "gamma * x + attended"}).says("""
    You multiplied the map itself by γ instead of the attended map. With γ = 0 only the attended map would be left,
    although the network is to start without attention: γ belongs before `attended`.""")
wrong("a mixture", {_SUM: "(1 - gamma) * x + gamma * attended"}).says("""
    You mixed the two, so a larger γ takes the map away. In SAGAN the map always passes unchanged, and γ times the
    attended map is added; γ may also be negative or larger than 1.""")
wrong("a mixture by a sigmoid", {_SUM: "torch.lerp(x, attended, gamma.sigmoid())"}).says("""
    You mixed the two with sigmoid(γ), so at γ = 0 half of the map is replaced. Here the map always passes unchanged,
    and γ times the attended map is added.""")
wrong("no residual connection", {_SUM: _PRODUCT}).says("""
    You left out the residual connection: with γ = 0 your result is 0, and nothing of the map comes through. Add the
    map itself.""")
wrong("γ without effect", {_SUM: "x + attended"}).says("""
    You added the whole attended map, whatever γ is. Multiply the attended map by γ first, so that training can start
    without attention.""")
wrong("γ times the sum", {_SUM: "gamma * (x + attended)"}).says("""
    You multiplied the sum by γ, so with γ = 0 the map is lost. Only the attended map is multiplied by γ.""")
wrong("absolute value of γ", {_PRODUCT: "gamma.abs() * attended"}).says("""
    You used the absolute value of γ. A negative γ is allowed and subtracts the attended map; besides, |γ| has the
    gradient 0 at 0, so γ could never leave its initial value.""")
wrong("no gradient at γ", {"return": "if gamma == 0:\n        return x.clone()\n    return"}).says("""
    Your values are right, but on some inputs no gradient arrives at γ. It was copied as a plain number (`.item()`,
    `.detach()`, `torch.tensor`, `nn.Parameter`), or your function gives back the map alone where γ is 0. γ starts at 0
    and is learnt, so it would stay there for ever: compute x + γ · attended in every case, with the tensor γ.""")
wrong("a mixture the other way round", {_SUM: "gamma * x + (1 - gamma) * attended"}).says("""
    You mixed the two, so at γ = 0 the map is replaced by the attended map. In SAGAN the map always passes unchanged,
    and γ times the attended map is added.""")
wrong("the map added twice", {_PRODUCT: "gamma * (attended + x)"}).says("""
    You added the map a second time, inside the product with γ. Only the attended map is multiplied by γ, and the map is
    added once, as it is.""")
wrong("laid side by side", {_SUM: "torch.cat([x, gamma * attended], dim=1)"}).says("""
    You laid the two maps side by side along the channels. They are added, so the result has the shape of `x`.""")
wrong("negative γ cut off", {_PRODUCT: "gamma.relu() * attended"}).says("""
    You cut γ off at 0, so where γ is negative your result is the map alone. γ has no limits: a negative one subtracts
    the attended map, and is as useful as a positive one.""")
