"""Lab 15: what a player of bandits lost, compared with the best arm."""

from misread.exercise import About, Exercise


def regret(probabilities, arms):
    """How much more the best arm pays on average than the pulled arms, summed over all pulls.

    (B, K), (B, N) -> (B,).
    """
    best = probabilities.amax(dim=1, keepdim=True)  # (B, 1)
    return (best - probabilities.gather(1, arms)).sum(dim=1)  # (B, N) -> (B,)


def _games(draw):
    batch, arms, pulls = draw.sizes(3, low=3)
    if draw.compact:
        yield draw.integers(1, 10, 2, 2).double() / 10, draw.integers(0, 2, 2, 3)
    yield draw.uniform(batch, arms), draw.integers(0, arms, batch, pulls)
    yield draw.uniform(batch, arms + 2), draw.integers(0, arms, batch, pulls + 3)
    yield draw.uniform(batch, pulls), draw.integers(0, pulls, batch, batch)  # as many pulls as bandits
    few = draw.uniform(3, 4)
    yield few, few.argsort(dim=1)[:, :3]  # the best arm is never pulled
    yield few, few.argmax(dim=1, keepdim=True).expand(-1, 5).contiguous()  # it always is
    yield draw.uniform(3, 3), draw.integers(0, 3, 3, 3)
    yield draw.uniform(2, 3), draw.integers(0, 3, 2, 1)  # one pull


REGRET = Exercise(
    regret,
    cases=_games,
    gradients=False,
    about=About(points=2, minutes=9, difficulty=2, read_again=("15_snail_evidence", "Slot machines")),
)

must = REGRET.properties
must("never negative", lambda result, *args: (result >= -1e-9).all()).says("""
    No arm pays more on average than the best arm, so no regret may be negative.""")
must(
    "at most the best arm's reward",
    lambda result, probabilities, arms: (result <= arms.shape[1] * probabilities.amax(dim=1) + 1e-9).all(),
).says("""
    The regret cannot be larger than what the best arm pays on average in all N pulls.""")
must(
    "0 for the best arm",
    lambda result, probabilities, arms: (
        (result.abs() < 1e-9) | (arms != probabilities.argmax(dim=1, keepdim=True)).any(dim=1)
    ).all(),
).says("""
    A player who always pulls the best arm has no regret.""")

_BEST, _PULLED = "probabilities.amax(dim=1, keepdim=True)", "probabilities.gather(1, arms)"
_RESULT = "(best - probabilities.gather(1, arms)).sum(dim=1)"

wrong = REGRET.mistakes
wrong("what was earned", {_RESULT: f"{_PULLED}.sum(dim=1)"}).says("""
    You computed what the pulled arms pay on average. The regret is what the best arm would have brought *more*:
    subtract each pull's probability from that of the best arm.""")
wrong("the best arm once", {_RESULT: f"best[:, 0] - {_PULLED}.sum(dim=1)"}).says("""
    You subtracted all pulls from a single pull of the best arm. The best arm would have been pulled N times as
    well, so compare with it in every pull.""")
wrong("the mean of the pulls", {".sum(dim=1)": ".mean(dim=1)"}).says("""
    You took the mean over the pulls. The regret of a game is the sum over all its pulls, so that it grows as long
    as the player pulls other arms than the best one.""")
wrong("after each pull", {".sum(dim=1)": ".cumsum(dim=1)"}).says("""
    You returned the regret after each pull. Wanted is that of the whole game, one number per bandit: (B,).""")
wrong("the loss of each pull", {".sum(dim=1)": ""}).says("""
    You returned the loss of each pull, (B, N). The regret of a game is their sum over the pulls: (B,).""")
wrong("the best of the pulled arms", {_BEST: f"{_PULLED}.amax(dim=1, keepdim=True)"}).says("""
    You compared with the best arm *that was pulled*. A player who never finds the best arm would have no regret for
    it: compare with the best of all K arms.""")
wrong("the best of all bandits", {_BEST: "probabilities.amax()"}).says("""
    You compared all players with the best arm of the whole batch. Each bandit has its own best arm: amax(dim=1).""")
wrong("the maximum over the bandits", {_BEST: "probabilities.amax(dim=0)[arms]"}).says("""
    You took the maximum over the bandits (axis 0) for each arm. The arms of a bandit lie along axis 1: amax(dim=1,
    keepdim=True).""")
wrong("the number of the best arm", {"amax(dim=1, keepdim=True)": "argmax(dim=1, keepdim=True)"}).says("""
    You subtracted from the *number* of the best arm, which argmax returns. The regret compares what the arms pay, so
    take the probability of the best arm itself: amax(dim=1, keepdim=True).""")
wrong("the mean arm", {"amax(dim=1, keepdim=True)": "mean(dim=1, keepdim=True)"}).says("""
    You compared with the mean of the arms, which is what a player earns who pulls at random. The regret compares
    with the *best* arm.""")
wrong("wrong pulls counted", {_RESULT: f"(best > {_PULLED}).to(best).sum(dim=1)"}).says("""
    You counted the pulls of other arms than the best. A pull of an arm that is nearly as good costs little: add up
    the differences of the probabilities.""")
wrong("only the last pull", {_RESULT: f"(best - {_PULLED})[:, -1]"}).says("""
    You took the last pull only. What the player lost while trying the arms counts as well: add up all pulls.""")
wrong("arms of all bandits", {_PULLED: "probabilities[:, arms]", "sum(dim=1)": "sum(dim=-1)"}).says("""
    `probabilities[:, arms]` looks up the arms of *all* players in every bandit, which gives (B, B, N). Row b of
    `arms` belongs to bandit b only: probabilities.gather(1, arms).""")
wrong("arms of all bandits, summed over the players", {_PULLED: "probabilities[:, arms]"}).says("""
    `probabilities[:, arms]` looks up the arms of *all* players in every bandit, which gives (B, B, N), and your sum
    leaves (B, N). Row b of `arms` belongs to bandit b only: probabilities.gather(1, arms).""")
wrong("gathered over the bandits", {_PULLED: "probabilities.gather(0, arms)"}).says("""
    You gathered along axis 0, where the numbers in `arms` are taken for numbers of *bandits*, so that it stops if there
    are more arms than bandits. The arms of a bandit lie along axis 1: probabilities.gather(1, arms).""")
ONCE = "((best - probabilities) * torch.zeros_like(probabilities).scatter(1, arms, 1.0)).sum(dim=1)"
wrong("repeated pulls counted once", {_RESULT: ONCE}).says("""
    You counted each arm once, however often it was pulled. Every pull of a worse arm costs, so an arm that was
    pulled three times counts three times.""")
wrong("as many pulls as arms", {_RESULT: f"probabilities.shape[1] * best[:, 0] - {_PULLED}.sum(dim=1)"}).says("""
    You multiplied the best probability by K, the number of arms. The best arm would have been pulled as often as
    the player pulled, which is N times, the second axis of `arms`.""")
wrong("as many pulls as bandits", {_RESULT: f"arms.shape[0] * best[:, 0] - {_PULLED}.sum(dim=1)"}).says("""
    You multiplied the best probability by B, the number of bandits, as `len(arms)` counts them. The best arm would have
    been pulled as often as the player pulled, which is N times, the second axis of `arms`.""")
wrong("compared with a sure win", {_RESULT: f"(1 - {_PULLED}).sum(dim=1)"}).says("""
    You compared with an arm that always pays. A bandit may have no such arm: subtract from the probability of its best
    arm, and not from 1.""")
wrong("a share of the best", {_RESULT: f"1 - {_PULLED}.sum(dim=1) / (arms.shape[1] * best[:, 0])"}).says("""
    You divided by what the best arm pays, which gives the lost *share*. The regret is a difference, in rewards: what
    the best arm would have paid in N pulls, minus what the pulled arms pay on average.""")
wrong("the first pull not counted", {_RESULT: f"(best - {_PULLED})[:, 1:].sum(dim=1)"}).says("""
    You left the first pull out, as a loop from 1 on does. What the player lost in it counts as well: add up all N
    pulls.""")
wrong("the last pull not counted", {_RESULT: f"(best - {_PULLED})[:, :-1].sum(dim=1)"}).says("""
    You left the last pull out, as range(N − 1) does. What the player lost in it counts as well: add up all N pulls.""")
wrong("an axis lost", {"(dim=1, keepdim=True)": "(dim=1)"}).says("""
    You subtract (B, N) from a maximum of the shape (B,), which broadcasting lays along the *pulls*, and not along
    the bandits. Keep the axis, so that the maximum is (B, 1): amax(dim=1, keepdim=True).""")
wrong("the first bandit's probabilities", {_PULLED: "probabilities[0][arms]"}).says("""
    You looked up the arms of all players in the first bandit. Row b of `arms` belongs to row b of `probabilities`:
    probabilities.gather(1, arms).""")
