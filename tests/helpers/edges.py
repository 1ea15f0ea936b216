"""The edges of what an exercise's text allows: its cases must reach each of them, or `EXCUSED` says why not.

At an edge an answer fails that is right everywhere else: one sentence, one position or one feature, where a
`squeeze()` takes an axis too many; a row with nothing to attend to, where 0 / 0 is NaN; digits that float32 does
not hold; scores whose exponential overflows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnlabs import Exercise
from misread.compare import same_run
from misread.values import parts, tensors, transform

_VOCABULARY = "a vocabulary of one word leaves nothing to predict"
_JOINED = "two vectors are joined, so that there are two features at least"
_FAKE = "a stand-in's state has a width of its own"
_NORM = "the layer norm of one feature is 0; lab 9's `layer_norm` has that case"
_PLANE = "points in a plane have two coordinates"
_ROOT = "√D as a tensor is float32, which is right"
_FILE = "each block of the format has 20 bytes"
_PAIRS = "features turn in pairs"
_AGAIN = "a text that is repeated has two tokens at least"
_DECK = "there are two rows of chances, and a class has two images at least"
EXCUSED: dict[str, dict[str, str]] = {
    "sequence_loss": {"one: logits, axis -1": _VOCABULARY},
    "greedy_decode": {"one: state, axis -1": _FAKE},
    "concat_score": {"one: W, axis -1": _JOINED},
    "attentional_state": {"one: W_c, axis -1": _JOINED},
    "input_feeding_step": {
        "one: W_c, axis -1": _JOINED,
        "nothing open: mask": "its text promises each sentence a word",
        "exp overflows": "its text says nothing of large scores, which lab 2's does",
    },
    "sample_location": {"one: weights, axis -1": "of a single position all draws are alike, as if nothing was drawn"},
    "reinforce_loss": {
        "one: log_probs, axis -2": "its text wants two draws at least, each being the other's baseline",
        "one: rewards, axis -1": "its text wants two draws at least, each being the other's baseline",
    },
    "encoder_layer": {"one: x, axis -1": _NORM},
    "decoder_layer": {"one: x, axis -1": _NORM, "one: memory, axis -1": _NORM},
    "label_smoothing_loss": {
        "one: logits, axis -1": _VOCABULARY,
        "float32": "`one_hot` times a number is float32, which is right",
    },
    "beam_search": {"one: state, axis -3": "a state of three axes is one of two sentences; the batch of one has two"},
    "length_normalised": {"float32": "a penalty that is made of whole numbers is float32, which is right"},
    "mix_with_own_output": {"one: logits, axis -1": _VOCABULARY},
    "perplexity": {"one: logits, axis -1": _VOCABULARY},
    "mask_for_bert": {"one: draw, axis -3": "there are two rows of chances"},
    "window_attention": {"float32": _ROOT},
    "relative_scores": {"float32": _ROOT},
    "circular_shift": {"one: shift, axis -1": "there are three moves"},
    "tour_length": {"one: points, axis -1": _PLANE},
    "is_convex_hull": {"one: points, axis -1": _PLANE},
    "greedy_pointer_decode": {"one: state, axis -1": _FAKE},
    "few_shot_episode": {
        "one: draw, axis -1": _DECK,
        "one: draw, axis -2": _DECK,
        "one: images, axis -4": _DECK,
        "one: labels, axis -1": _DECK,
    },
    "dequantise_q4_1": {"one: raw, axis -1": _FILE},
    "rotary_with_base": {"one: x, axis -1": _PAIRS},
    "prefix_matching_score": {"one: weights, axis -1": _AGAIN, "one: weights, axis -2": _AGAIN},
    "speculative_accept": {"one: draft, axis -1": _VOCABULARY, "one: model, axis -1": _VOCABULARY},
}

# Whether a rounding is larger than the tolerance (which √D as a tensor in float32 needs) differs by processor.
BY_PROCESSOR = {"causal_attention_block": {"float32"}}


def missing(exercise: Exercise, variant: int) -> list[str]:
    """The edges, by name, that no input of a variant reaches."""
    return [
        *_sizes_that_are_never_one(exercise, variant),
        *_masks_without_a_closed_row(exercise, variant),
        *_right_answers_but_for_an_edge(exercise, variant),
    ]


def _arguments(exercise: Exercise, variant: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors among the arguments of all inputs, with the name of their parameter."""
    for run in exercise.expected(variant):
        for name, argument in zip(exercise.parameters, run.args, strict=False):
            yield from ((name, part) for part in parts(argument) if isinstance(part, Tensor))


def _sizes_that_are_never_one(exercise: Exercise, variant: int) -> list[str]:
    """Axes are counted from the end, since an argument may have more of them in front."""
    sizes: dict[str, set[int]] = {}
    for name, tensor in _arguments(exercise, variant):
        for axis, size in enumerate(reversed(tensor.shape), start=1):
            sizes.setdefault(f"one: {name}, axis -{axis}", set()).add(size)
    return [edge for edge, found in sizes.items() if 1 not in found]


def _masks_without_a_closed_row(exercise: Exercise, variant: int) -> list[str]:
    closed: dict[str, bool] = {}
    for name, tensor in _arguments(exercise, variant):
        if tensor.dtype == torch.bool:
            closed[name] = closed.get(name, False) or not tensor.any(-1).all()
    return [f"nothing open: {name}" for name, found in closed.items() if not found]


def _right_answers_but_for_an_edge(exercise: Exercise, variant: int) -> list[str]:
    """Answers made of the reference that should be rejected and are not."""
    made = {"float32": _through_float32(exercise)} if _gives_floats(exercise, variant) else {}
    if exercise.once("uses softmax", lambda: _uses_softmax(exercise)):
        made["exp overflows"] = _unguarded(exercise)
    return [edge for edge, answer in made.items() if _passes(exercise, answer, variant)]


def _passes(exercise: Exercise, answer: Callable, variant: int) -> bool:
    runs = exercise.expected(variant)
    return all(same_run(exercise.run(answer, run.args), run, exercise.tolerance) for run in runs)


def _gives_floats(exercise: Exercise, variant: int) -> bool:
    run = exercise.expected(variant)[0]
    return all(any(t.dtype == torch.float64 for t in tensors(list(value))) for value in (run.args, parts(run.value)))


def _through_float32(exercise: Exercise) -> Callable:
    """The reference, computed in float32 on the way."""

    def answer(*args: Any) -> Any:
        narrow = transform(args, lambda tensor: tensor.float() if tensor.dtype == torch.float64 else tensor)
        return transform(
            exercise.reference(*narrow), lambda tensor: tensor.double() if tensor.is_floating_point() else tensor
        )

    return answer


class _Unguarded(TorchFunctionMode):
    """Softmax and its logarithm as in the formula, without the largest score subtracted."""

    used = False

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name not in ("softmax", "log_softmax", "cross_entropy"):
            return func(*args, **kwargs)
        self.used = True
        dim = 1 if name == "cross_entropy" else args[1] if len(args) > 1 else kwargs["dim"]
        exponentials = args[0].exp()
        shares = exponentials / exponentials.sum(dim, keepdim=True)
        if name == "cross_entropy":  # of each word, as `reduction="none"` gives it
            return -shares.log().gather(1, args[1][:, None])[:, 0]
        return shares if name == "softmax" else shares.log()


def _unguarded(exercise: Exercise) -> Callable:
    def answer(*args: Any) -> Any:
        with _Unguarded():
            return exercise.reference(*args)

    return answer


def _uses_softmax(exercise: Exercise) -> bool:
    args = exercise.inputs()[0]
    with _Unguarded() as mode:
        exercise.reference(*args)
    return mode.used
