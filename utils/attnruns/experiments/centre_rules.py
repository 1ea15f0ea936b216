"""Chapter 4's file with other rules for where it attends, everything else alike: which hold on longer lists.

What is trained is the file itself, as it stands in the chapter, with another class in place of its attention. The
windows have the file's half-width and Gaussian, and the same number of parameters; those whose name ends with ``_10``
have the half-width of the paper, and one of them, like the paper's local-m, no Gaussian. Two more walking windows tell
the mask from the Gaussian: a wide mask with a narrow Gaussian, and a narrow mask with a wide one. For one seed all
models read the same lists of numbers. It stays on the CPU, as the file does. Walking is after Tjandra et al. 2017.

Three more ask why some rules fail. The oracle is given the right window, without a Gaussian, and remembers no position.
The scattered words are as few, but do not lie together: the right word and others drawn from the whole list. Together
they ask whether it is enough to choose from few words. And local-p is trained with a decoder that starts from the
encoder's last states, as in the paper, where the file's starts from zeros.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnbook.threads import threads
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "04_luong"
HALF_WIDTH, WIDE_HALF_WIDTH = 2, 10  # of the file's window, and of the paper's


class Window(NamedTuple):
    """The rule by which a window finds its centre, and what it has besides.

    Attributes:
        rule: how the centre is found; the oracle's and the scattered words' is given.
        half_width: words to either side of the centre.
        gaussian: whether the weights are multiplied by one around the centre.
        started: whether the decoder starts from the encoder's last states.
        sigma: of the Gaussian, in words; None is half of the half-width.
    """

    rule: str
    half_width: int = HALF_WIDTH
    gaussian: bool = True
    started: bool = False
    sigma: float | None = None


WINDOWS = {
    **{rule: Window(rule) for rule in ("local_m", "local_p", "counted", "walking", "both_ways")},
    "local_p_started": Window("local_p", started=True),
    **{rule: Window(rule, gaussian=False) for rule in ("oracle", "scattered")},
    "local_m_10": Window("local_m", WIDE_HALF_WIDTH),
    "local_m_plain_10": Window("local_m", WIDE_HALF_WIDTH, gaussian=False),
    "local_p_started_10": Window("local_p", WIDE_HALF_WIDTH, started=True),
    "walking_10": Window("walking", WIDE_HALF_WIDTH),
    "walking_narrow_10": Window("walking", WIDE_HALF_WIDTH, sigma=HALF_WIDTH / 2),
    "walking_flat": Window("walking", sigma=WIDE_HALF_WIDTH / 2),
}
STEPS = dict.fromkeys(("global", "last_weights", *WINDOWS), 600)
TESTED = (2, 5, 6, 8, 10, 15)  # numbers in a list; 1 to 5 are trained
LISTS = 200  # of each test
FOLLOWED = (5, 15)  # numbers in the lists whose centres are kept
TEST_SEED = 1000  # added to the seed of the training
LONGEST = 40.0  # words of a list of fifteen numbers: the range of a centre that is counted from the first word
TAPS = 7  # of the filter over the last weights: three words to either side
REPLACED = {"random.seed(0)": "random.seed({seed})", "torch.manual_seed(0)": "torch.manual_seed({seed})"}
STARTED = {
    "pad_packed_sequence(self.encoder(packed)[0],": "pad_packed_sequence((encoded := self.encoder(packed))[0],",
    "(zeros, (zeros, zeros),": "(zeros, tuple(last.transpose(0, 1).flatten(1) for last in encoded[1]),",
}  # the decoder's first state: the last ones of both directions, side by side


def code(seed: int, name: str = "walking") -> str:
    """The file of the chapter up to its trainings, with this seed; its decoder starts as the rule's does."""
    replaced = REPLACED | (STARTED if name in WINDOWS and WINDOWS[name].started else {})
    return file_of(CHAPTER, replaced, seed, 0, without=("file-answer",))


def attention_of(name: str, plain: type[nn.Module]) -> type[nn.Module]:
    """The class that stands in place of the file's ``Attention``: the same, with another rule.

    Raises:
        ValueError: if there is no rule of this name.
    """
    chosen(STEPS, name)
    parts: Any = plain  # the file's class, whose layers the type checker does not know
    window = WINDOWS.get(name, Window(name))

    class Ruled(parts):
        """The file's attention with a window whose centre another rule finds."""

        def __init__(self, D: int, walks: bool) -> None:
            super().__init__(D, walks, window.half_width)
            self.sigma = window.half_width / 2 if window.sigma is None else window.sigma

        def centre(self, s: Tensor, p: Tensor, S: Tensor) -> Tensor:
            learned = self.v_p(torch.tanh(self.W_p(s)))[:, 0]  # (B,)
            if window.rule == "local_m":
                return p + 1  # p starts at -1
            if window.rule == "local_p":
                return S * torch.sigmoid(learned)
            if window.rule == "counted":
                return LONGEST * torch.sigmoid(learned)
            if window.rule == "both_ways":
                return (p + 3 * torch.tanh(learned)).clamp(min=-1)  # not before the place where it starts
            return p + 3 * torch.sigmoid(learned)

        def forward(self, s: Tensor, p: Tensor, h: Tensor, S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            p = torch.minimum(self.centre(s, p, S), S - 1)  # (B,): not beyond the last word
            distance = torch.arange(h.shape[1]) - p[:, None]  # (B, Tk)
            allowed = (torch.arange(h.shape[1]) < S[:, None]) & (distance.abs() <= self.half_width)
            scores = (self.W_a(h) @ s[:, :, None])[:, :, 0]  # (B, Tk)
            weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
            if window.gaussian:
                weights = weights * torch.exp(-(distance**2) / (2 * self.sigma**2))
            return (weights[:, None] @ h)[:, 0], weights, p

    class LastWeights(parts):
        """Global attention whose score receives the last weights: s · (W_a h_j + the filtered last weights at j)."""

        def __init__(self, D: int, walks: bool) -> None:
            super().__init__(D, walks)
            self.filter = nn.Conv1d(1, D, TAPS, padding=TAPS // 2, bias=False)

        def forward(self, s: Tensor, p: Tensor, h: Tensor, S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            last = h.new_zeros(h.shape[:2]) if p.dim() == 1 else p  # (B, Tk); before the first word there are none
            near = self.filter(last[:, None]).transpose(1, 2)  # (B, Tk) -> (B, Tk, D)
            scores = ((self.W_a(h) + near) @ s[:, :, None])[:, :, 0]  # (B, Tk)
            words = torch.arange(h.shape[1]) < S[:, None]  # (B, Tk)
            weights = scores.masked_fill(~words, float("-inf")).softmax(dim=-1)
            return (weights[:, None] @ h)[:, 0], weights, weights

    class Oracle(parts):
        """The words around the true one, which is given: ``told`` yields a centre ``(B,)`` for each step."""

        told: Iterator[Tensor]

        def forward(self, s: Tensor, p: Tensor, h: Tensor, S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            p = next(self.told)
            scores = (self.W_a(h) @ s[:, :, None])[:, :, 0]  # (B, Tk)
            allowed = self.allowed(p, torch.arange(h.shape[1]), S)  # (B, Tk)
            weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
            return (weights[:, None] @ h)[:, 0], weights, p

        def allowed(self, p: Tensor, place: Tensor, S: Tensor) -> Tensor:
            return (place < S[:, None]) & ((place - p[:, None]).abs() <= self.half_width)

    class Scattered(Oracle):
        """The true word and as many others as the oracle's window has, drawn from the whole list at each step."""

        def allowed(self, p: Tensor, place: Tensor, S: Tensor) -> Tensor:
            words = place < S[:, None]  # (B, Tk)
            drawn = torch.rand(words.shape).masked_fill(~words, -1.0).scatter(1, p[:, None].long(), 2.0)  # (B, Tk)
            rank = drawn.argsort(dim=1, descending=True).argsort(dim=1)  # (B, Tk): 0 for the true word
            return words & (rank <= 2 * self.half_width)

    ruled = {"global": plain, "last_weights": LastWeights, "oracle": Oracle, "scattered": Scattered}
    return ruled.get(name, Ruled)


def told(names: dict[str, Any]) -> type[nn.Module]:
    """The file's translator, which gives its attention the true position before each step.

    *Und* has no English word; it is told that of its unit. The end, and what follows it, is told the last word.
    """
    plain: Any = names["Translator"]
    tens = [names["SOURCE"].index(ten) for ten in names["TENS"]]

    class Told(plain):
        """``forward`` as the file's."""

        def forward(self, source: Tensor, steps: int, target: Tensor | None = None) -> Any:
            paths = torch.tensor([path_of(words, steps, tens) for words in source.tolist()])  # (B, steps)
            self.decoder.attention.told = iter(paths.float().unbind(dim=1))
            return super().forward(source, steps, target)

    return Told


def path_of(source: list[int], steps: int, tens: Sequence[int]) -> list[int]:
    """The true position at each step: of the numbers of the words of one list, which 0 pads."""
    path: list[int] = []
    words = [word for word in source if word]
    for at, word in enumerate(words):
        if word in tens:
            path += [at + 1, at + 1, at]  # the unit, "und", the ten
        elif at == 0 or words[at - 1] not in tens:
            path.append(at)
    return (path + [len(words) - 1] * steps)[:steps]


def true_positions(english: list[str], german: list[str], units: list[str]) -> list[tuple[int, int]]:
    """The places of the words that carry a number: ``(of the German word, of the English one)``, both from 0."""
    english_numbers, german_numbers = (_places(words) for words in (english, german))
    pairs = []
    for ours, theirs in zip(english_numbers, german_numbers, strict=True):
        unit = [at for at in ours if english[at] in units]
        ten = [at for at in ours if english[at] not in units]
        pairs += list(zip([theirs[0], theirs[-1]] if ten else theirs, unit + ten, strict=True))
    return pairs


def _places(words: list[str]) -> list[list[int]]:
    """The places of the words of each number."""
    numbers: list[list[int]] = [[]]
    for at, word in enumerate(words):
        if word == ",":
            numbers.append([])
        else:
            numbers[-1].append(at)
    return numbers


@torch.no_grad()
def centres(names: dict[str, Any], model: Any, n: int) -> dict[str, Any]:
    """Where the model attends while it reads the correct words of ``LISTS`` lists of n numbers.

    Returns:
        "distance": between the centre of the window and the true word, the mean over the words that carry a number.
        "path": ``[true position, centre]`` of these words in the first list. Global attention has no centre; the
        position of its largest weight stands for it.
    """
    lists = [names["number_list"](n) for _ in range(LISTS)]
    source, target = names["batch_of"](lists)
    _, weights, carried = model(source, target.shape[1], target)
    at = carried if carried.dim() == 2 and model.decoder.attention.walks else weights.argmax(dim=-1)  # (B, T)
    found = [
        [(place, round(at[row, t].item(), 2)) for t, place in true_positions(english, german, names["UNITS"])]
        for row, (english, german) in enumerate(lists)
    ]
    distances = [abs(place - centre) for of_list in found for place, centre in of_list]
    return {"distance": round(sum(distances) / len(distances), 3), "path": [list(pair) for pair in found[0]]}


def file_with(name: str, seed: int) -> dict[str, Any]:
    """The names of the chapter's file with this rule in place of its attention.

    Raises:
        ValueError: if there is no rule of this name.
    """
    names, _ = run_file(code(seed, name))
    names["Attention"] = attention_of(name, names["Attention"])
    if name in ("oracle", "scattered"):
        names["Translator"] = told(names)
    return names


def trained_and_measured(
    names: dict[str, Any], job: Job, sizes: Sequence[int], measure: Callable[[Any], dict[str, Any]]
) -> tuple[Any, dict[str, Any]]:
    """The file's translator, trained, and its figures.

    Args:
        names: of the file, from :func:`file_with`. sizes: of the lists on which exact match is tested.
        measure: what else is found of the trained model, after this test.

    Returns:
        the model; "exact_match" by size, what ``measure`` finds, and "seconds" of the processor for all of it.
    """
    started = time.process_time()
    with threads(1):
        model = names["train"](job.model in WINDOWS, steps=job.steps)
        random.seed(TEST_SEED + job.seed)
        exact = {str(n): round(names["share_correct"](model, n, LISTS), 4) for n in sizes}
        found = measure(model)
    return model, {"exact_match": exact} | found | {"seconds": round(time.process_time() - started, 1)}


def run(job: Job) -> Outcome:
    """Train the file's translator with one rule, and test it on lists up to three times as long."""
    names = file_with(job.model, job.seed)

    def follow(model: Any) -> dict[str, Any]:
        return {"centres": {str(n): centres(names, model, n) for n in FOLLOWED}}

    model, figures = trained_and_measured(names, job, TESTED, follow)
    return Outcome({"parameters": sum(part.numel() for part in model.parameters())} | figures)


SETTINGS = {
    "task": "lists of one to five numbers below 100, chapter 4's file", "batch": 64, "learning_rate": 8e-3,
    "warmup": "30 % of the steps, one cycle", "max_grad_norm": 1.0, "half_width": HALF_WIDTH, "lists_of_a_test": LISTS,
    "filter_over_last_weights": TAPS,
}  # fmt: skip
EXPERIMENT = Experiment("centre_rules", STEPS, run, SETTINGS | {"half_width_of_the_wide": WIDE_HALF_WIDTH}, on_cpu=True)
