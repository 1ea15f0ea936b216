"""Does SmolLM2 name a gift's receiver by the heads that point there? Heads are replaced at one position (chapter 14).

Nothing is trained. ``steps`` says how many sentences with new names are measured. Heads are chosen on other sentences,
by their weight from the last position to the receiver's first token; while the model reads the last position of a test
sentence, their outputs are replaced by their means over sentences with other names again.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnbook.data.symbols.names import THINGS, make_name
from attnbook.models.pretrained import Pretrained
from attnbook.seeding import generator
from attnruns.experiments.real_controls import others_of_their_layers
from attnruns.experiments.real_model import Head, smollm2
from attnruns.experiments.real_names import Replaced, mean_of_heads
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

FRAME = "{giver} gave {receiver} a {thing} and then {again} went home. So a {thing} was given to"
GROUP = 5  # heads that are replaced together
DRAWS = 10  # sets of as many other heads of the same layers
CHOOSE, FOR_MEAN = 60, 12  # sentences on which heads are chosen, and over which means are taken
FOR_CHOICE, FOR_MEANS = 100, 200  # added to the seed for them


class Gift(NamedTuple):
    """A sentence that breaks off before the receiver's name.

    Attributes:
        ids: ``(1, T)``. receiver, giver: the first token of each name. at: where the receiver's stands. twice: the
        second half names the receiver, not the giver.
    """

    ids: Tensor
    receiver: int
    giver: int
    at: list[int]
    twice: bool


def gift_of(pretrained: Pretrained, giver: str, receiver: str, thing: str, twice: bool) -> Gift | None:
    """The sentence with these names, or ``None`` if their first tokens do not tell them apart."""
    again = receiver if twice else giver
    text = FRAME.format(giver=giver, receiver=receiver, thing=thing, again=again)
    ids = pretrained.tokenizer.encode(text).ids
    first, other = (pretrained.tokenizer.encode(f" {name}").ids[0] for name in (receiver, giver))
    at = [place for place, token in enumerate(ids) if token == first]
    if first == other or len(at) != 1 + twice:
        return None
    return Gift(torch.tensor([ids]), first, other, at, twice)


def gifts(pretrained: Pretrained, count: int, seed: int) -> Iterator[Gift]:
    """So many sentences; the second half names the giver and the receiver in turn."""
    draw, found = generator(seed), 0
    while found < count:
        thing = THINGS[int(torch.randint(len(THINGS), (), generator=draw))]
        gift = gift_of(pretrained, make_name(draw), make_name(draw), thing, twice=found % 2 == 1)
        if gift is not None:
            found += 1
            yield gift


def pointing_heads(pretrained: Pretrained, seed: int) -> list[tuple[Head, float]]:
    """All heads, the largest mean weight from the last position to the receiver's first token first."""
    total = torch.zeros(())
    for gift in gifts(pretrained, CHOOSE, seed + FOR_CHOICE):
        maps = torch.stack([of[0] for of in pretrained.model.maps(gift.ids)])  # (layers, H, T, T)
        total = total + maps[:, :, -1, gift.at].sum(dim=-1)  # (layers, H)
    mean = total / CHOOSE
    order = mean.flatten().argsort(descending=True).tolist()
    width = mean.shape[1]
    return [((n // width, n % width), round(mean.flatten()[n].item(), 3)) for n in order]


def told(logits: Tensor, gift: Gift) -> list[float]:
    """The probabilities of receiver and giver after ``logits (V,)``, and 1 if the receiver's is the largest of all."""
    p = logits.softmax(dim=-1)
    return [p[gift.receiver].item(), p[gift.giver].item(), float(p.argmax() == gift.receiver)]


def means_of(rows: list[list[float]]) -> dict[str, float]:
    """The means over sentences."""
    means = torch.tensor(rows).mean(dim=0).tolist()
    return dict(zip(("receiver", "giver", "right"), (round(mean, 4) for mean in means), strict=True))


@torch.no_grad()
def gift_figures(job: Job) -> dict[str, Any]:
    """What the model names with all heads, without those that point, and without others of their layers."""
    pretrained, draw = smollm2(), generator(job.seed)
    model = pretrained.model
    means = mean_of_heads(model, [gift.ids for gift in gifts(pretrained, FOR_MEAN, job.seed + FOR_MEANS)])
    best = pointing_heads(pretrained, job.seed)[: 2 * GROUP]
    chosen = [head for head, _ in best[:GROUP]]
    sets = others_of_their_layers(chosen, len(means[0]))
    others = [sets[n] for n in torch.randperm(len(sets), generator=draw)[:DRAWS].tolist()]
    heads = {"all": [], "first": chosen[:1], "group": chosen} | {f"other {n}": of for n, of in enumerate(others)}
    rows: dict[str, list[list[float]]] = {name: [] for name in heads}
    for gift in gifts(pretrained, job.steps, job.seed):
        text = Replaced(model, means, gift.ids)
        for name, of in heads.items():
            rows[name].append(told(text.without(of, gift.ids.shape[1] - 1), gift))
    found = {name: means_of(of) for name, of in rows.items()}
    return {
        "heads": [[*head, weight] for head, weight in best],
        **{name: found[name] for name in ("all", "first", "group")},
        "once": means_of(rows["all"][::2]),
        "others": [found[f"other {n}"] for n in range(len(others))],
    }


PARTS: Parts = {"gifts": (gift_figures, 60)}


def run(job: Job) -> Outcome:
    """Measure one draw of names."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "gift_heads",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "frame": FRAME, "group": GROUP, "draws": DRAWS,
        "choose": CHOOSE, "for_mean": FOR_MEAN, "for_choice": FOR_CHOICE, "for_means": FOR_MEANS,
    },
    on_cpu=True,
)  # fmt: skip
