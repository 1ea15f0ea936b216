"""Chapter 1's file with the same vector c, which its decoder reads in another way for each number that it writes.

A bottleneck can do harm in two ways: everything has to go into one vector, and the same vector comes out at every step.
``same`` is the file as it stands. In ``by_number`` the encoder still ends with one c of 64 entries, but the decoder
receives at each step ``W_k c``, with a matrix of its own for each of the four numbers; k is one more than the commas
that it has read. So what can be stored is the same, and only the second harm is lifted. The control ``by_step`` has the
same matrices and changes them with the step (1, 2, 3, 4, 1, …), so that it has as many parameters and a vector that
changes, but none that belongs to a number. ``given_number`` separates what ``by_number`` mixes: its decoder receives
the same c at each step plus a learned vector ``e_k``, so that it knows which number it writes, but has no reading
of its own for it. In ``frozen_encoder`` the file is trained first; then a new decoder with readings by number learns
from the c of its encoder, which stays as it is: so it shows what readings bring if the encoder doesn't learn along.
``own_vector`` lifts the first harm as well: at number k the decoder receives the encoder's state after the k-th source
number (after the last one if there are fewer).

Each trained file is also tested with c rounded to a few bits per entry. What is trained is the file itself, as it
stands in the chapter. It stays on the CPU, as the file does.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from attnruns.experiments.state_sizes import CHAPTER, COUNT, exact_matches
from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

MOST = 4  # numbers in a list
BITS = (1, 2, 3, 4, 5, 6)  # per entry of c, when it is rounded
LAYER = "self.rnn = nn.GRU(embedding + hidden, hidden, batch_first=True)\n"
SHOWN = "c = c[:, None].expand(-1, words.shape[1], -1)"
FIRST = "self.first_state(c)"
LAST = "states[torch.arange(len(source)), lengths - 1]"
STEP = "logits, state = decoder(word, c, state)  # (B, 1, V)"
# The words from the start on are read again at each step: then the commas can be counted.
AGAIN = "logits = decoder(torch.cat([torch.full_like(word, BOS), *written], dim=1), c)[0][:, -1:]"
NUMBER = f'(words == TARGET_WORDS.index(",")).cumsum(dim=1).clamp(max={MOST - 1})'
ROWS = "torch.arange(len(c))[:, None]"
VECTORS = f"{LAYER}        self.numbers = nn.Embedding({MOST}, hidden)\n"
MATRICES = f"{LAYER}        self.readings = nn.Linear(hidden, {MOST} * hidden, bias=False)\n"
ENDS = f'''
def ends(source, lengths):
    """source (B, Tk) -> (B, {MOST}): where each number ends; for a number that is missing, where the last one does"""
    place = torch.arange(source.shape[1]).expand_as(source)
    is_word = (place < lengths[:, None]) & (source != SOURCE_WORDS.index(","))
    number = (source == SOURCE_WORDS.index(",")).cumsum(dim=1)
    of_each = [torch.where(is_word & (number == k), place, -1).amax(dim=1) for k in range({MOST})]
    return torch.stack([torch.where(end < 0, lengths - 1, end) for end in of_each], dim=1)
'''


BOTH = "encoder, decoder = Encoder(32, hidden=64), Decoder(32, hidden=64)"
TRAINED = "[*encoder.parameters(), *decoder.parameters()]"


def _reading(which: str) -> dict[str, str]:
    read = f"self.readings(c).unflatten(1, ({MOST}, -1))[{ROWS}, {which}]"
    return {LAYER: MATRICES, SHOWN: f"c = {read}", STEP: AGAIN}


# Of each model: what is replaced in the file.
RECIPES: dict[str, Mapping[str, str]] = {
    "same": {STEP: AGAIN},
    "by_number": _reading(NUMBER),
    "by_step": _reading(f"torch.arange(words.shape[1]).expand_as(words) % {MOST}"),
    "given_number": {LAYER: VECTORS, SHOWN: f"c = c[:, None] + self.numbers({NUMBER})", STEP: AGAIN},
    "frozen_encoder": {
        **_reading(NUMBER),
        BOTH: "encoder, decoder = trained_encoder, Decoder(32, hidden=64)",
        TRAINED: "[*decoder.parameters()]",
    },
    "own_vector": {
        "class Encoder(nn.Module)": f"{ENDS}\n\nclass Encoder(nn.Module)",
        LAST: "states[torch.arange(len(source))[:, None], ends(source, lengths)]",
        FIRST: "self.first_state(c[:, -1])",
        SHOWN: f"c = c[{ROWS}, {NUMBER}]",
        STEP: AGAIN,
    },
}
STEPS = dict.fromkeys(RECIPES, 700)  # as in the chapter


def code(name: str, seed: int, steps: int) -> str:
    """The file up to the end of its training, with this way of reading c, this seed and so many steps."""
    common = {
        "torch.manual_seed(0)": "torch.manual_seed({seed})",
        "STEPS, draw = 700, random.Random(0)": "STEPS, draw = {steps}, random.Random({seed})",
    }
    kept_as_they_are = {old: new.replace("{", "{{").replace("}", "}}") for old, new in chosen(RECIPES, name).items()}
    return file_of(CHAPTER, {**common, **kept_as_they_are}, seed, steps, without=("alone-answer",))


def rounded(c: Tensor, bits: int) -> Tensor:
    """Each entry of c, between -1 and 1, at the middle of one of ``2**bits`` steps of equal size."""
    steps = 2**bits
    return ((c + 1) / 2 * steps).floor().clamp(0, steps - 1).add(0.5) / steps * 2 - 1


def when_rounded(names: Mapping[str, Any], bits: int) -> dict[str, float]:
    """The same, with c rounded to so many bits per entry on its way from the encoder to the decoder."""
    hook = names["encoder"].register_forward_hook(lambda _module, _source, c: rounded(c, bits))
    try:
        return exact_matches(names, MOST)
    finally:
        hook.remove()


def run(job: Job) -> Outcome:
    """Train the file with one way of reading c, and test it with c as it is and rounded."""
    given, first = {}, 0.0
    if job.model == "frozen_encoder":
        file, first = run_file(code("same", job.seed, job.steps))
        given = {"trained_encoder": file["encoder"]}
    names, spent = run_file(code(job.model, job.seed, job.steps), given)
    figures: dict[str, Any] = {"exact_match": exact_matches(names, MOST)}
    figures["rounded"] = {str(bits): when_rounded(names, bits) for bits in BITS}
    figures["parameters"] = sum(weights.numel() for weights in names["parameters"])
    return Outcome({**figures, "loss": round(names["loss"].item(), 4), "seconds": round(first + spent, 1)})


SETTINGS = {
    "task": f"lists of one to {MOST} numbers below 1,000, English to German", "embedding": 32, "hidden": 64,
    "test_lists": COUNT, "batch": 64, "learning_rate": 8e-3, "warmup": 210, "max_grad_norm": 1.0,
}  # fmt: skip
EXPERIMENT = Experiment("own_readings", STEPS, run, SETTINGS, on_cpu=True)
