"""Lab 20: rotary frequencies for texts that are longer than those of training."""

import math

import torch

from misread.exercise import About, Exercise


def yarn_frequencies(dim, factor, trained, base, slow, fast):
    """Radians per position of each pair of features, for texts `factor` times as long: -> (D/2,) float64."""
    pairs = torch.arange(0, dim, 2, dtype=torch.float64)  # (D/2,): 0, 2, 4, …
    old = base ** (-pairs / dim)  # (D/2,): radians per position in training
    turns = trained * old / (2 * torch.pi)  # (D/2,): how often a pair turned in a text of training
    kept = ((turns - slow) / (fast - slow)).clamp(0, 1)  # (D/2,): 1 where the pair stays as it is
    return (1 - kept) * old / factor + kept * old


def _models(draw):
    (half,) = draw.sizes(1)
    yield 2 * half + 4, 2.0 + draw.integer(0, 4), 60 + 10 * draw.integer(0, 6), 50.0, 1.0, 8.0
    if draw.compact:
        yield 4, 2.0, 40, 16.0, 1.0, 8.0
        yield 6, 4.0, 64, 64.0, 1.0, 8.0
    yield 8, 4.0, 100, 10.0, 1.0, 32.0
    yield 16, 2.5, 200, 100.0, 2.0, 20.0
    yield 16, 4.0, 150, 60.0, 1.0, 12.0
    yield 22, 1.5, 300, 200.0, 1.0, 16.0
    yield 12, 8.0, 30 + draw.integer(0, 20), 20.0, 1.0, 3.0
    yield 10, 1.0, 64, 30.0, 1.0, 8.0  # no longer than in training: nothing changes
    yield 2, 4.0, 64, 10000.0, 1.0, 32.0  # a single pair
    yield 6, 4.0, 1000, 5.0, 1.0, 32.0  # all pairs turned often
    yield 6, 4.0, 5, 1000.0, 1.0, 32.0  # no pair turned once
    yield 64, 4.0, 8192, 100000.0, 1.0, 32.0  # SmolLM2
    yield 64, 32.0, 4096, 150000.0, 1.0, 32.0  # gpt-oss
    yield 20, 3, 500, 500, 1, 4  # whole numbers; slow and fast as in Llama 3.1
    yield 14, 16.0, 150, 40.0, 0.5 + draw.integer(0, 3), 12.0


YARN_FREQUENCIES = Exercise(
    yarn_frequencies,
    cases=_models,
    gradients=False,
    device=False,
    about=About(3, 18, 3, read_again=("20_attention_today_evidence", "Contexts longer than in training")),
)


def _old(dim, base):
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


must = YARN_FREQUENCIES.properties
must(
    "from interpolated to unchanged",
    lambda result, dim, factor, trained, base, slow, fast: (
        (result <= _old(dim, base) * (1 + 1e-6)) & (result >= _old(dim, base) / factor * (1 - 1e-6))
    ).all(),
).says("""
    Each frequency must lie between base^(−2i/D) / s, where the pair is interpolated, and base^(−2i/D), where it
    stays as it was.""")
must("the fastest pair first", lambda result, *args: (result[1:] < result[:-1]).all()).says("""
    Later pairs turn more slowly, so each frequency must be smaller than the one before.""")

_PAIRS, _OLD = "torch.arange(0, dim, 2, dtype=torch.float64)", "base ** (-pairs / dim)"
_TURNS, _KEPT = "trained * old / (2 * torch.pi)", "((turns - slow) / (fast - slow)).clamp(0, 1)"
_MIXED = "(1 - kept) * old / factor + kept * old"


def _by_the_number_of_the_pair(dim, factor, trained, base, slow, fast):
    def pair(turns):
        return dim * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    first, last = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), dim - 1)
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    ramp = ((torch.arange(dim // 2, dtype=torch.float64) - first) / max(last - first, 0.001)).clamp(0, 1)
    return old / factor * ramp + old * (1 - ramp)


wrong = YARN_FREQUENCIES.mistakes
wrong("ramp inverted", {_MIXED: "kept * old / factor + (1 - kept) * old"}).says("""
    Your ramp has the wrong direction: pairs that turned often are interpolated, and slow ones stay. The share γ
    rises with the number of turns, and it is the share of the *old* frequency: (1 − γ) θ/s + γ θ. (To exchange
    `slow` and `fast` has the same effect.)""")
wrong("wavelength for frequency", {_TURNS: "trained / (2 * torch.pi * old)"}).says("""
    You divided by the frequency where you should multiply. A pair with θ radians per position turns θ / 2π times
    per position, so in L positions it turns r = L θ / 2π times.""")
wrong("the 2π left out", {_TURNS: "trained * old"}).says("""
    You left out the 2π. L θ is an angle in radians; divided by 2π it is the number of turns, r = L θ / 2π.""")
wrong("no parentheses around 2π", {_TURNS: "trained * old / 2 * torch.pi"}).says("""
    You wrote … / 2 * π without parentheses, which Python reads as (… / 2) · π. The angle is divided by 2π, so
    the product needs its parentheses.""")
wrong("wavelength in the place of turns", {_TURNS: "2 * torch.pi / old"}).says("""
    You compared the wavelength 2π / θ, in positions per turn, with α and β. Both are numbers of *turns* in a
    text of training: r = L θ / 2π.""")
wrong("wavelength divided by the length", {_TURNS: "2 * torch.pi / old / trained"}).says("""
    You divided the wavelength by L, which says how many texts one turn takes. Wanted is how many turns one text takes,
    L divided by the wavelength: r = L θ / 2π.""")
wrong("multiplied by 2π", {_TURNS: "trained * old * 2 * torch.pi"}).says("""
    You multiplied by 2π. A full turn has 2π radians, so an angle is *divided* by it: r = L θ / 2π.""")
wrong("half turns", {_TURNS: "trained * old / torch.pi"}).says("""
    You divided by π. A full turn has 2π radians: r = L θ / 2π.""")
for rough in ("3.14", "3.1416", "3.14159"):
    wrong(f"{rough} for π", {_TURNS: f"trained * old / (2 * {rough})"}).says(f"""
        You wrote {rough} for π, so that the frequencies of mixed pairs are wrong in late digits. `torch.pi` and
        `math.pi` have all digits of float64.""")
wrong("turns in degrees", {_TURNS: "trained * old / 360"}).says("""
    You divided by 360. Angles are in radians here, so a full turn is 2π.""")
wrong("turns in the longer text", {_TURNS: "factor * trained * old / (2 * torch.pi)"}).says("""
    You counted the turns in a text of the new length. What matters is which angles the model has met in
    *training*: r = L θ / 2π with the trained length L.""")
wrong("turns after interpolation", {_TURNS: "trained * old / factor / (2 * torch.pi)"}).says("""
    You counted the turns of the interpolated pairs. Count those of the old frequency θ: r = L θ / 2π.""")
wrong("all pairs alike", {_MIXED: "old / factor"}).says("""
    You divided all frequencies by s, which is position interpolation. YaRN does this only with pairs that turned
    seldom in training; fast pairs stay as they are. (Turns per *position* instead of turns in a text of L
    positions have the same effect.)""")
wrong("nothing changed", {_MIXED: "old"}).says("""
    You returned the old frequencies. Slow pairs must be divided by s.""")
wrong("another base", {_OLD: "(base * factor ** (dim / (dim - 2))) ** (-pairs / dim)", _MIXED: "old"}).says("""
    You changed the base, which is called NTK-aware scaling. YaRN keeps the base, and divides the frequencies of
    slow pairs by s.""")
wrong("base times the factor", {_OLD: "(base * factor) ** (-pairs / dim)", _MIXED: "old"}).says("""
    You multiplied the base by s. YaRN keeps the base, and divides the frequencies of slow pairs by s.""")
wrong("temperature in the frequencies", {_MIXED: f"({_MIXED}) * (0.1 * math.log(factor) + 1)"}).says("""
    You multiplied the frequencies by 0.1 ln s + 1. This factor of YaRN makes queries and keys longer, and so the
    scores sharper; it does not belong to the frequencies.""")
wrong("divided by the temperature", {_MIXED: f"({_MIXED}) / (0.1 * math.log(factor) + 1)"}).says("""
    You divided the frequencies by 0.1 ln s + 1. This factor of YaRN belongs to queries and keys, and not to the
    frequencies.""")
wrong("the factor rounded down", {_MIXED: "(1 - kept) * old / int(factor) + kept * old"}).says("""
    You rounded the factor s down to a whole number. It can be any number from 1, such as 2.5.""")
wrong("multiplied by the factor", {_MIXED: "(1 - kept) * old * factor + kept * old"}).says("""
    You multiplied slow frequencies by s. For longer texts they must turn *more slowly*: divide by s.""")
wrong("wavelengths mixed", {_MIXED: "old / ((1 - kept) * factor + kept)"}).says("""
    You mixed the wavelengths, s λ and λ, with the shares 1 − γ and γ. Mix the *frequencies*: (1 − γ) θ/s + γ θ.""")
wrong("mixed as powers", {_MIXED: "old * factor ** (kept - 1)"}).says("""
    You mixed the logarithms of the two frequencies. The two frequencies themselves are mixed: (1 − γ) θ/s + γ θ.""")
wrong("both added up", {_MIXED: "old / factor + kept * old"}).says("""
    You left out the share 1 − γ of the interpolated frequency. Both shares together must be 1: (1 − γ) θ/s + γ
    θ.""")
wrong("a factor for the mean", {_MIXED: "old / 2 + old / factor / 2"}).says("""
    You took the mean of old and interpolated frequency for every pair. How much of the old one stays depends on
    the pair, by the share γ.""")
wrong("not clamped", {".clamp(0, 1)": ""}).says("""
    You left the share γ without bounds. Below α turns it is 0, and above β turns it is 1.""")
wrong("clamped above only", {".clamp(0, 1)": ".clamp(max=1)"}).says("""
    Your share γ falls below 0. A pair that turned fewer than α times has the share 0.""")
wrong("clamped below only", {".clamp(0, 1)": ".clamp(min=0)"}).says("""
    Your share γ rises above 1. A pair that turned more than β times has the share 1.""")
wrong("a step at the slow end", {_KEPT: "(turns > slow).double()"}).says("""
    You let every pair that turned more than α times stay as it is. Between α and β turns the share rises
    linearly from 0 to 1.""")
wrong("a step at the fast end", {_KEPT: "(turns > fast).double()"}).says("""
    You interpolated every pair that turned fewer than β times. Between α and β turns the share rises linearly
    from 0 to 1.""")
wrong(
    "a smooth step", {_MIXED: "(1 - kept**2 * (3 - 2 * kept)) * old / factor + kept**2 * (3 - 2 * kept) * old"}
).says("""
    You smoothed the ramp to γ² (3 − 2 γ). Between α and β turns the share rises linearly from 0 to 1.""")
wrong("no parentheses around r − α", {_KEPT: "(turns - slow / (fast - slow)).clamp(0, 1)"}).says("""
    You wrote r − α / (β − α) without parentheses, where Python divides first. It is (r − α) / (β − α).""")
wrong("whole turns", {_TURNS: "(trained * old / (2 * torch.pi)).floor()"}).says("""
    You rounded the turns down to whole numbers. They are counted with their fractions: r = L θ / 2π.""")
wrong("slow left out of the ramp", {_KEPT: "(turns / fast).clamp(0, 1)"}).says("""
    Your share γ is r / β. It begins to rise at α: γ = (r − α) / (β − α).""")
wrong("slow left out below", {_KEPT: "((turns - slow) / fast).clamp(0, 1)"}).says("""
    You divided by β. The ramp goes from α to β, so it is β − α turns long: γ = (r − α) / (β − α).""")
wrong("divided by α − β", {_KEPT: "((turns - slow) / (slow - fast)).clamp(0, 1)"}).says("""
    You divided by α − β, which is negative, so that the share γ falls with the turns. It is (r − α) / (β − α), with
    `fast - slow` below.""")
wrong("a ramp over log r", {_KEPT: "((turns / slow).log() / math.log(fast / slow)).clamp(0, 1)"}).says("""
    Your ramp is linear in the logarithm of r, which is what a ramp over the number i of the pair amounts to, as
    in the authors' program. Here it is linear in the number of turns r, as in the paper: γ = (r − α) / (β − α).""")
wrong("a ramp over rounded pairs", _by_the_number_of_the_pair).says("""
    Your ramp is that of the authors' program: linear in the number i of the pair, between two numbers that are
    rounded. Here it is linear in the number of turns r, as in the paper: γ = (r − α) / (β − α).""")
wrong("a ramp over the pairs", {_KEPT: "1 - torch.linspace(0, 1, len(old), dtype=torch.float64)"}).says("""
    Your share falls evenly from the first pair to the last. It depends on how often the pair turned in training:
    γ = (r − α) / (β − α), not below 0 and not above 1.""")
wrong("1 and 32 whatever", {_KEPT: "((turns - 1) / 31).clamp(0, 1)"}).says("""
    You used 1 and 32 for α and β. Both are arguments, `slow` and `fast`.""")
wrong("10000 whatever", {"base **": "10000 **"}).says("""
    You used 10000 whatever the base is. The base is an argument: SmolLM2 has 100000.""")
wrong("the 2 of the exponent forgotten", {"(-pairs / dim)": "(-pairs / 2 / dim)"}).says("""
    Your exponent for pair i is i / D. It must be 2i / D, where i counts pairs and D features.""")
wrong("the 2 of the exponent counted twice", {"(-pairs / dim)": "(-2 * pairs / dim)"}).says("""
    Your exponents are 4i / D, because the 2 was counted twice. Pair i has the exponent 2i / D.""")
wrong("the last exponent is 1", {"(-pairs / dim)": "(-pairs / max(dim - 2, 1))"}).says("""
    Your exponents run up to exactly 1, because you divided by D − 2 (or used `linspace`). Pair i has the
    exponent 2i / D, so the last one stays below 1.""")
wrong("no parentheses around the exponent", {_OLD: "base ** -pairs / dim"}).says("""
    You wrote `base ** -… / dim` without parentheses, where Python computes the power first. The whole exponent, −2i/D,
    needs its parentheses.""")
wrong("the sign of the exponent", {"(-pairs": "(pairs"}).says("""
    Your old frequencies grow with the pair. They are base^(−2i/D): later pairs turn more slowly.""")
wrong(
    "wavelengths returned", {"return (1 - kept)": "return 2 * torch.pi / ((1 - kept)", "+ kept * old": "+ kept * old)"}
).says("""
    You returned wavelengths, in positions per turn. Wanted are frequencies, in radians per position.""")
wrong("turns returned", {_MIXED: f"({_MIXED}) / (2 * torch.pi)"}).says("""
    You returned turns per position. Wanted are radians per position, so do not divide the result by 2π.""")
wrong("the share returned", {f"return {_MIXED}": "return kept"}).says("""
    You returned the share γ. Wanted are the mixed frequencies: (1 − γ) θ/s + γ θ.""")
wrong("D frequencies", {f"return {_MIXED}": f"return ({_MIXED}).repeat_interleave(2)"}).says("""
    You returned a frequency for every feature. A pair of features turns together, so there are D/2 of them.""")
wrong("D frequencies, repeated as a whole", {f"return {_MIXED}": f"return ({_MIXED}).repeat(2)"}).says("""
    You returned the frequencies twice, one after the other, as programs do that pair the two halves of the features. A
    pair of features turns together, so there are D/2 of them.""")
wrong("D frequencies, exponents i / D", {_PAIRS: "torch.arange(0, dim, dtype=torch.float64)"}).says("""
    You returned a frequency for every feature, with the exponents i / D. A pair of features turns together:
    count 0, 2, 4, … for the exponents 2i / D of D/2 pairs.""")
wrong("in single precision", {f"return {_MIXED}": f"return ({_MIXED}).float()"}).says("""
    Your frequencies have single precision. At position 100,000 an error of 1e-7 in a frequency is 0.01 radians,
    so compute in float64 from beginning to end: give `dtype=torch.float64` to `torch.arange` and `torch.tensor`, and
    use no `.float()` on the way.""")
wrong("a list", {f"return {_MIXED}": f"return ({_MIXED}).tolist()"}).says("""
    You returned a list. Wanted is a tensor of shape (D/2,) and dtype torch.float64.""")
