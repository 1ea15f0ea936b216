"""What a sceptic asks about the heads and the sinks of SmolLM2 (evidence for chapter 19).

Nothing is trained. ``steps`` says how many sequences or texts are measured.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.measure.circuits import KeyComposition, copying_scores
from attnbook.measure.induction import mean_contexts
from attnbook.measure.inside import (
    attentions_of,
    first_position_share,
    nats_under,
    residuals,
    sinks_and_window,
    without_heads,
)
from attnruns.experiments.real_model import (
    CONTROLS,
    GROUPS,
    Ablation,
    Head,
    common_words,
    copied,
    fused,
    ordered,
    other_heads,
    scores,
    segments,
    smollm2,
    text_tokens,
)
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.rounding import rounded
from attnruns.shared.runner import Experiment, Job, Outcome

RECEIVERS = (17, 18)  # the layers of the best induction heads
FIRST = (" cat", " the", ".", "\n", " 7", "<|im_start|>", "<|endoftext|>")
SHORT, LONG, WINDOW = 128, 512, 128
MASSIVE = 12  # the layer after which the first vector is long


def composition(job: Job) -> dict[str, Any]:
    """Prefix matching of the receivers' layers, as they are and without each earlier head in their keys."""
    pretrained = smollm2()
    words = segments(pretrained, job.steps, job.seed).repeat(1, 2)  # (steps, 2 · PERIOD)
    figures: dict[str, Any] = {"previous": rounded(scores(pretrained.model, words)["previous"])}
    for layer in RECEIVERS:
        measured = KeyComposition(pretrained.model, words, layer)
        heads = range(pretrained.model.config.heads)
        without = [torch.stack([measured.scores((earlier, head)) for head in heads]) for earlier in range(layer)]
        figures[str(layer)] = {"all": rounded(measured.scores()), "without": rounded(torch.stack(without))}
    return figures


def copies(job: Job) -> dict[str, Any]:
    """Of each head, prefix matching, and how often its values and output matrix copy a word."""
    pretrained = smollm2()
    first = segments(pretrained, job.steps, job.seed)
    words, candidates = first.repeat(1, 2), common_words(pretrained)
    found = copying_scores(pretrained.model, first, candidates)
    matched = torch.tensor(scores(pretrained.model, words)["induction"])
    return {"candidates": len(candidates), "copying": rounded(found), "induction": rounded(matched)}


def means(job: Job) -> dict[str, Any]:
    """The groups of heads ablated together, by zeros and by each head's mean context on other sequences."""
    pretrained = smollm2()
    ablation = Ablation(pretrained, job.steps, job.seed)
    others = segments(pretrained, job.steps, job.seed + 100).repeat(1, 2)
    attentions = attentions_of(pretrained.model)
    contexts = [mean_contexts(attention, pretrained.model, others) for attention in attentions]

    def copied_without(heads: list[Head]) -> dict[str, float]:
        kinds: dict[str, list[Tensor | float]]
        kinds = {"zero": [0.0] * len(heads), "mean": [contexts[layer][head] for layer, head in heads]}
        found = {}
        for kind, instead in kinds.items():
            with fused(pretrained.model), torch.no_grad(), without_heads(attentions, heads, instead):
                found[kind] = round(copied(pretrained.model, ablation.words)[1], 4)
        return found

    best = {kind: ordered(of) for kind, of in ablation.scores.items()}
    groups = {kind: {str(k): copied_without(best[kind][:k]) for k in GROUPS} for kind in best}
    controls = [copied_without(other_heads(ablation.scores, GROUPS[-1], draw)) for draw in range(CONTROLS)]
    return {"all": copied_without([]), "groups": groups, "controls": controls}


def first_tokens(job: Job) -> dict[str, Any]:
    """The mean share of the first token, and the least ratio of its vector's length to later ones, by first token."""
    pretrained = smollm2()
    tokens = text_tokens(pretrained)
    length = min(SHORT, len(tokens) // (3 * job.steps))
    tokens = tokens[job.seed * length * job.steps :][: length * job.steps].view(job.steps, length)
    firsts = {"its own": tokens[:, 0]}
    firsts |= {text: torch.full((job.steps,), pretrained.tokenizer.encode(text).ids[0]) for text in FIRST}
    figures = {}
    for name, first in firsts.items():
        words = torch.cat([first[:, None], tokens[:, 1:]], dim=1)  # (steps, length)
        with torch.no_grad():
            maps = pretrained.model.maps(words)
        share = torch.stack([first_position_share(weights) for weights in maps]).mean().item()
        lengths = residuals(pretrained.model, words)[min(MASSIVE, len(maps))].norm(dim=-1)  # (steps, length)
        ratio = (lengths[:, 0] / lengths[:, 16:].mean(dim=1)).min().item()
        figures[name] = {"share": round(share, 4), "smallest_ratio": round(ratio, 1)}
    return {"by_first": figures}


def other_sinks(job: Job) -> dict[str, Any]:
    """Nats per token of each text behind the window: with it alone, with the first four positions, with four others."""
    pretrained = smollm2()
    tokens = text_tokens(pretrained)
    length = min(LONG, len(tokens) // (3 * job.steps))
    begin = job.seed * length * job.steps
    texts = tokens[begin : begin + length * job.steps].view(job.steps, length)
    masks = {"all": sinks_and_window(length, length, 0)}
    masks |= {name: sinks_and_window(length, WINDOW, sinks) for name, sinks in (("window", 0), ("first four", 4))}
    masks["four others"] = masks["window"].clone()
    masks["four others"][24:, 20:24] = True
    figures = {}
    for name, mask in masks.items():
        with fused(pretrained.model), torch.no_grad():
            loss = nats_under(pretrained.model, texts, mask)
        figures[name] = [round(nats, 4) for nats in loss[:, WINDOW:].mean(dim=1).tolist()]
    return {"nats": figures}


PARTS: Parts = {
    "composition": (composition, 4),
    "copies": (copies, 4),
    "means": (means, 4),
    "first_tokens": (first_tokens, 4),
    "other_sinks": (other_sinks, 4),
}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_heads",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "receivers": RECEIVERS, "groups": GROUPS, "controls": CONTROLS,
        "first": FIRST, "window": WINDOW, "length": LONG,
    },
    on_cpu=True,
)  # fmt: skip
