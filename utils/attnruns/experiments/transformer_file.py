"""Chapter 9's Transformer in one file, without each of its parts: switched off after training, or never there.

What runs is the file itself, as it stands in the chapter, in which the lines of a part are changed. With the weights of
the whole model, the part is switched off; with weights that were trained in the changed file, it was never there. It
stays on the CPU, as the file does.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.models import Transformer, TransformerConfig
from attnbook.modes import evaluating
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.rounding import rounded_mean
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "09_transformer"
# What is changed in the file to take a part away.
_ENCODER, _DECODER = "y, mask)\n        return x + ", "y, mask)\n        x = x + self.cross"
_ATTENDED = "        x = x + self.self_attention(y, "
CHANGED: dict[str, dict[str, str]] = {
    "all": {},
    "positions": {"return x + sinusoids(*x.shape[1:])": "return x"},
    "encoder self-attention": {_ATTENDED + _ENCODER: "        return x + "},
    "decoder self-attention": {_ATTENDED + _DECODER: "        x = x + self.cross"},
    "both self-attentions": {_ATTENDED + "y, mask)\n": ""},
    "cross-attention": {"        x = x + self.cross_attention(self.norm_cross(x), memory, memory_mask)\n": ""},
    "feed-forward": {"return x + self.feed_forward(self.norm_feed_forward(x))": "return x"},
    "residual connections": {"x + self.": "self."},
    "layer norm": {"nn.LayerNorm(D)": "nn.Identity()"},
}
NAMES = {part.replace(" ", "_").replace("-", "_"): part for part in CHANGED}  # of the models in the record
STEPS = dict.fromkeys(NAMES, 1000)
# Parts of which the mean output can take the place of each output, and their modules in the file's model.
AVERAGED = ("positions", "encoder self-attention", "decoder self-attention", "cross-attention", "feed-forward")
KINDS = {"unit": slice(5, 13), "und": slice(4, 5), "tens": slice(13, 21), "comma": slice(3, 4), "EOS": slice(2, 3)}
SIZES = (2, 3)  # numbers in a list of the test
COUNT = 300  # lists of each size
DIVISOR = 7  # lists whose sum it divides are not in training


def code(part: str, seed: int, steps: int) -> str:
    """The file up to its training, in which a part is taken away, with this seed and so many steps."""
    start = {"torch.manual_seed(0)": "torch.manual_seed({seed})", "steps=1000": "steps={steps}"}
    return file_of(CHAPTER, start | chosen(CHANGED, part), seed, steps, without=("answers",))


def names_of(part: str, seed: int = 0, steps: int = 1000) -> dict[str, Any]:
    """What the file without a part defines; nothing is trained yet."""
    return run_file(code(part, seed, steps))[0]


def model_of(names: Mapping[str, Any]) -> nn.Module:
    """A fresh model of the file."""
    return names["Transformer"](len(names["ENGLISH"]), len(names["GERMAN"]))


def switched_off(trained: nn.Module, part: str, seed: int = 0) -> tuple[dict[str, Any], nn.Module]:
    """The file without a part, and its model with the weights of the whole trained one."""
    names = names_of(part, seed)
    model = model_of(names)
    wanted = model.state_dict().keys()
    model.load_state_dict({name: value for name, value in trained.state_dict().items() if name in wanted})
    return names, model.eval()


def tested_lists(names: Mapping[str, Any], size: int) -> list[list[int]]:
    """Lists of so many numbers that are not in training: :data:`COUNT` that are drawn from all of them."""
    lists = torch.cartesian_prod(*[names["NUMBERS"]] * size).view(-1, size)
    lists = lists[lists.sum(dim=1) % DIVISOR == 0]
    drawn = torch.randperm(len(lists), generator=torch.Generator().manual_seed(0))[:COUNT]
    return lists[drawn].tolist()


def _shifted(names: Mapping[str, Any], target: Tensor) -> Tensor:
    return nn.functional.pad(target[:, :-1], (1, 0), value=names["BOS"])  # (B, T)


@evaluating
def measured(model: nn.Module, names: Mapping[str, Any]) -> dict[str, Any]:
    """For each size of lists, shares that are right.

    Returns:
        "lists": of the lists that the model writes by itself, word for word; "words": of the next words, if the right
        words before them are given; and "kinds": of the next words of each kind.
    """
    found: dict[str, Any] = {}
    for size in SIZES:
        lists = tested_lists(names, size)
        source, target = names["batch_of"](lists)
        real = target != names["PAD"]
        right = (model(source, _shifted(names, target)).argmax(dim=-1) == target) & real
        wanted = [" ".join(names["said"](one, names["german"])) for one in lists]
        written = names["translated"](model, lists)
        kinds = {}
        for kind, words in KINDS.items():
            of_kind = (target >= words.start) & (target < words.stop)
            kinds[kind] = rounded_mean(right[of_kind])
        exact = torch.tensor([one == other for one, other in zip(written, wanted, strict=True)])
        found[str(size)] = {"lists": rounded_mean(exact), "words": rounded_mean(right[real]), "kinds": kinds}
    return found


@contextmanager
def averaged(model: nn.Module, names: Mapping[str, Any], part: str) -> Iterator[None]:
    """Let a model run with the mean output of a part in place of each: inside the ``with``.

    The mean is over all real positions of some 440 lists of one to three numbers as in training. For positions, it is
    the mean of what is added to the words, in encoder and decoder separately.
    """
    whole: Any = model
    encoder, decoder = whole.encoder.layers[0], whole.decoder.layers[0]
    modules: dict[str, list[tuple[nn.Module, bool]]] = {  # and whether it is the encoder's
        "positions": [(whole.embed_source, True), (whole.embed_target, False)],
        "encoder self-attention": [(encoder.self_attention, True)],
        "decoder self-attention": [(decoder.self_attention, False)],
        "cross-attention": [(decoder.cross_attention, False)],
        "feed-forward": [(encoder.feed_forward, True), (decoder.feed_forward, False)],
    }
    source, target = training_lists(names)
    real = {True: source != names["PAD"], False: target != names["PAD"]}
    with ExitStack() as after:
        for module, of_encoder in chosen(modules, part):
            added = _outputs(model, module, part, (source, _shifted(names, target)))
            mean = added[real[of_encoder]].mean(dim=0)  # (D,)
            after.callback(module.register_forward_hook(_mean_in_place(part, mean)).remove)
        yield


def training_lists(names: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """Some 440 lists as in training: source ``(B, Tk)`` and target ``(B, T)``."""
    draw = torch.Generator().manual_seed(1)
    numbers = names["NUMBERS"]
    sizes = torch.randint(1, 4, (512,), generator=draw).tolist()
    lists = [numbers[torch.randint(len(numbers), (size,), generator=draw)].tolist() for size in sizes]
    source, target = names["batch_of"]([one for one in lists if sum(one) % DIVISOR])
    return source, target


def _outputs(model: nn.Module, module: nn.Module, part: str, inputs: tuple[Tensor, Tensor]) -> Tensor:
    """What a module adds to the stream: ``(B, T, D)``."""
    kept: list[Tensor] = []
    hook = module.register_forward_hook(lambda module, given, out: kept.append(_added(part, module, given, out)))
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        hook.remove()
    return kept[0]


def _word(module: Any, given: tuple[Tensor, ...]) -> Tensor:
    return module.words(given[0]) * module.words.embedding_dim**0.5


def _added(part: str, module: nn.Module, given: tuple[Tensor, ...], out: Tensor) -> Tensor:
    return out - _word(module, given) if part == "positions" else out


def _mean_in_place(part: str, mean: Tensor) -> Callable[..., Tensor]:
    def hook(module: nn.Module, given: tuple[Tensor, ...], out: Tensor) -> Tensor:
        return _word(module, given) + mean if part == "positions" else mean.expand_as(out)

    return hook


def build(name: str) -> Transformer:
    """The package's model that takes the weights of the file's."""
    if name != "all":
        raise ValueError(f"no model is called {name!r}; there is: all")
    return Transformer(20, 21, TransformerConfig(layers=1, positions="sinusoidal"))


def run(job: Job) -> Outcome:
    """Train the file without a part; of the whole model, switch each part off as well."""
    part = chosen(NAMES, job.model)
    training = "\n\nmodel = Transformer(len(ENGLISH), len(GERMAN))\ntrain(model)\n"
    names, seconds = run_file(code(part, job.seed, job.steps) + training)
    model = names["model"]
    figures: dict[str, Any] = {"trained": measured(model, names), "seconds": seconds}  # of the processor
    if part != "all":
        return Outcome(figures)
    zero = {}
    for off in [name for name in CHANGED if name != "all"]:
        changed, without = switched_off(model, off, job.seed)
        zero[off] = measured(without, changed)
    mean = {}
    for off in AVERAGED:
        with averaged(model, names, off):
            mean[off] = measured(model, names)
    package = build("all")
    package.load_state_dict(model.state_dict())
    return Outcome(figures | {"zero": zero, "mean": mean}, package if job.seed == 0 else None)


SETTINGS = {
    "task": "lists of one to three numbers, English to German; tested on lists that are not in training",
    "batch": 32, "learning_rate": 5e-3, "warmup": 100, "max_grad_norm": None, "tested_lists": COUNT,
}  # fmt: skip
EXPERIMENT = Experiment("transformer_file", STEPS, run, SETTINGS, on_cpu=True, build=build)
trained = EXPERIMENT.trained
