"""Luong's decoder on lists of numbers: scores, placements, input feeding, and windows (chapter 04)."""

from dataclasses import dataclass
from functools import cache
from statistics import median

import torch
from torch import Tensor, nn

from attnbook.attention import Additive, Dot, General, LocalAttention, MonotonicCentre, PredictedCentre, WalkingCentre
from attnbook.data import shift_right
from attnbook.data.batching import Example, Task
from attnbook.data.symbols.numbers import COMMA, number_lists
from attnbook.measure.evaluation import groups_by_size
from attnbook.models import LuongSeq2Seq
from attnbook.modes import evaluating
from attnbook.seeding import seed_everything
from attnbook.training import teacher_forcing_loss
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.seq2seq import TRAINING, train_and_measure
from attnruns.shared.timing import shortest_time

STEPS_EACH = 600
HIDDEN = 120  # so that the kept weights of the largest model stay under 500 kB
MEASURED = (3, 6, 8, 10, 12, 16)  # numbers in a list; 1 to 6 are trained
TIMED = 15  # training steps whose median is given
CENTRES = {"monotonic": MonotonicCentre, "predicted": PredictedCentre, "walking": WalkingCentre}


@dataclass(frozen=True)
class Recipe:
    """What is chosen about a model. All read both ways with LSTMs, and train alike.

    Fields:
        score: "dot", "general" or "concat".
        feeding, placement: as :class:`LuongSeq2Seq`.
        centre: of a window, "monotonic", "predicted" or "walking" (after Tjandra et al. 2017);
            ``None`` for global attention.
        half_width, gaussian: of the window.
        kept: whether the weights of seed 0 are kept.
    """

    score: str = "general"
    feeding: bool = True
    placement: str = "output"
    centre: str | None = None
    half_width: int = 3
    gaussian: str = "product"
    kept: bool = False

    def build(self, task: Task) -> LuongSeq2Seq:
        """A fresh model for a task."""
        sizes = len(task.source_vocabulary), len(task.target_vocabulary)
        scores = {
            "dot": lambda: Dot(),
            "general": lambda: General(HIDDEN, HIDDEN),
            "concat": lambda: Additive(HIDDEN, HIDDEN, HIDDEN),
        }
        return LuongSeq2Seq(
            *sizes,
            hidden=HIDDEN,
            score=scores[self.score](),
            local=self.window(),
            feeding=self.feeding,
            placement=self.placement,
        )

    def window(self) -> LocalAttention | None:
        """The window, or ``None`` for global attention."""
        if self.centre is None:
            return None
        centre = MonotonicCentre() if self.centre == "monotonic" else CENTRES[self.centre](HIDDEN)
        return LocalAttention(centre, self.half_width, self.gaussian)


RECIPES = {
    "dot": Recipe("dot"),
    "general": Recipe(kept=True),
    "concat": Recipe("concat"),
    "local_m": Recipe(centre="monotonic", half_width=4, gaussian="none"),
    "local_p": Recipe(centre="predicted", kept=True),
    "local_p_bias": Recipe(centre="predicted", gaussian="bias"),
    "walking": Recipe(centre="walking", kept=True),
    "walking_bias": Recipe(centre="walking", gaussian="bias"),
    # Placements, all without feeding: "output" is "general" without it.
    "output": Recipe(feeding=False, kept=True),
    "input": Recipe(feeding=False, placement="input"),
    "both": Recipe(feeding=False, placement="both"),
    "skip": Recipe(feeding=False, placement="skip"),
}
STEPS = dict.fromkeys(RECIPES, STEPS_EACH)


@cache
def task() -> Task:
    """Lists of 1 to 6 numbers, and of 8, 10, 12 and 16 beyond, made once a process."""
    return number_lists(longer=(8, 10, 12, 16))


def build(name: str, other: Task | None = None) -> LuongSeq2Seq:
    """A fresh model of this experiment, for its task or another one."""
    return chosen(RECIPES, name).build(task() if other is None else other)


@evaluating
def attended(model: LuongSeq2Seq, task: Task, examples: list[Example]) -> tuple[Tensor, Tensor, Tensor]:
    """What the model does while it reads the right words: teacher forcing.

    Returns:
        ``(B, T)`` each: the words that it predicts, the position of the largest weight, the centre of the window.
    """
    batch = task.collate(examples).to(next(model.parameters()).device)
    state = model.start(batch.source, batch.lengths)
    steps = []
    for token in shift_right(batch.target).unbind(dim=1):
        logits, state, weights = model.step(token, state)
        steps.append((logits.argmax(dim=-1), weights.argmax(dim=-1), state.centre))
    words, peaks, centres = (torch.stack(parts, dim=1) for parts in zip(*steps, strict=True))
    return words, peaks, centres


def where_it_attends(model: LuongSeq2Seq, task: Task, examples: list[Example]) -> dict[str, float | None]:
    """How the largest weights and the centres of windows relate to the true alignment, under teacher forcing.

    Returns:
        ``right_words``: share of target words that are predicted right.
        ``peak_on_word``: share whose largest weight lies on a source word that may be aligned with them.
        ``elsewhere_though_right``: of the words that are predicted right, the share whose largest weight does not.
        ``elsewhere_at_und``: the same for "und" alone, which is surely aligned with no source word.
        ``peak_distance``: positions between the largest weight and the nearest word surely aligned; the mean over
        the words that have one.
        ``centre_distance``: as much for the centre of the window; only where there is a window.
        ``peak_in_number``: share of the words within numbers whose largest weight lies within the same number.
    """
    words, peaks, centres = (part.tolist() for part in attended(model, task, examples))
    rows = [
        word
        for example, *read in zip(examples, words, peaks, centres, strict=True)
        for word in compare(example, task.target_vocabulary.encode(example.target), *read)
    ]
    right = [row for row in rows if row["right"]]
    figures = {
        "right_words": _mean(rows, "right"),
        "peak_on_word": _mean(rows, "on_word"),
        "elsewhere_though_right": _mean(right, "elsewhere"),
        "elsewhere_at_und": _mean([row for row in right if row["peak"] is None], "elsewhere"),
        "peak_distance": _mean(rows, "peak"),
        "centre_distance": _mean(rows, "centre"),
        "peak_in_number": _mean(rows, "in_number"),
    }
    return figures if model.local is not None else {k: v for k, v in figures.items() if k != "centre_distance"}


def compare(example: Example, target: list[int], words: list, peaks: list, centres: list) -> list[dict]:
    """For each target word what :func:`where_it_attends` counts; ``None`` where there is nothing to compare."""
    sources, targets = (_items(side) for side in (example.source, example.target))
    rows = []
    for t, wanted in enumerate(target):
        sure = [s for s, link in example.sure if link == t]
        distances = [min((abs(at[t] - s) for s in sure), default=None) for at in (peaks, centres)]
        on_word = (peaks[t], t) in example.possible
        rows.append({
            "right": words[t] == wanted,
            "on_word": on_word,
            "elsewhere": not on_word,
            "peak": distances[0],
            "centre": distances[1],
            "in_number": None if example.target[t] == COMMA else sources[peaks[t]] == targets[t],
        })  # fmt: skip
    return rows


def _items(words: tuple[str, ...]) -> list[int]:
    """The number that each word belongs to, counted from 0; −1 for a comma."""
    return [-1 if word == COMMA else words[:at].count(COMMA) for at, word in enumerate(words)]


def _mean(rows: list[dict], name: str) -> float | None:
    """The mean of one figure over the rows that have it; ``None`` if none has."""
    values = [row[name] for row in rows if row[name] is not None]
    return round(sum(values) / len(values), 4) if values else None


def milliseconds_per_step(model: nn.Module, task: Task, repeats: int = TIMED) -> float:
    """Forward and backward pass of one batch of 64 lists, alone: the median, in milliseconds of the processor."""
    batch = task.batch_at(0, TRAINING["batch"]).to(next(model.parameters()).device)

    def work() -> None:
        teacher_forcing_loss(model, batch).backward()
        model.zero_grad()

    model.train()  # cuDNN's LSTM gives no gradients in evaluation mode
    spent = median(shortest_time(1, work)[0] for _ in range(repeats))
    model.eval()
    return round(1000 * spent, 1)


def measure(model: LuongSeq2Seq, task: Task) -> dict:
    """Milliseconds per step, and where the model attends, by the size of the list."""
    groups = groups_by_size(task, most=100)
    sizes = [size for size in MEASURED if size in groups]
    where = {str(size): where_it_attends(model, task, groups[size][:100]) for size in sizes}
    names = where[str(sizes[0])]
    by_size = {name: {size: figures[name] for size, figures in where.items()} for name in names}
    return {"milliseconds_per_step": milliseconds_per_step(model, task), **by_size}


def run(job: Job) -> Outcome:
    """Train and measure one model."""
    seed_everything(job.seed)
    model = build(job.model)
    figures = train_and_measure(model, task(), job) | measure(model, task())
    return Outcome(figures, model if RECIPES[job.model].kept and job.seed == 0 else None)


EXPERIMENT = Experiment(
    "luong",
    STEPS,
    run,
    {"task": "number_lists(longer=(8, 10, 12, 16))", "hidden": HIDDEN, "embedding": 32, **TRAINING},
    build=build,
)
trained = EXPERIMENT.trained
