"""What prose costs SmolLM2 without single heads, and without many of them at once (chapter 08).

Nothing is trained. On ``steps`` texts, others for each seed, each head is removed alone. On as many texts of the same
third of the prose that come after them, the heads that cost least alone are removed together, and as a control as many
heads that are drawn from all.
"""

from typing import Any

import torch
from torch import Tensor

from attnbook.attention import causal_mask
from attnbook.measure.inside import attentions_of, read_on, surprises, without_heads
from attnruns.experiments.longer_than_trained import text_of
from attnruns.experiments.real_model import Head, drawn, fused, smollm2
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

TEXT = 128  # tokens
GROUPS = (27, 54, 81, 135)  # heads that are removed together: a tenth, a fifth, three tenths and half of 270
DRAWS = 2  # controls of each size


@torch.no_grad()
def singles(model, texts: Tensor) -> list[list[float]]:
    """The mean loss without each head, by layer; layers below the head's own are computed once."""
    mask, x, table = causal_mask(texts.shape[1]), model.embed(texts), []
    layers = model.blocks.layers
    with fused(model):
        for number, layer in enumerate(layers):
            row = []
            for head in range(layer.self_attention.heads):
                with without_heads([layer.self_attention], [(0, head)]):
                    loss = surprises(read_on(model, x, number), texts).mean().item()
                row.append(round(loss, 4))
            table.append(row)
            x = layer(x, mask).x
    return table


@torch.no_grad()
def nats(model, texts: Tensor, heads: list[Head]) -> float:
    """The mean loss per token of ``texts (B, T)`` without these heads."""
    with fused(model), without_heads(attentions_of(model), heads):
        return round(surprises(model(texts)[0], texts).mean().item(), 4)


def heads_of(job: Job) -> dict[str, Any]:
    """Nats with all heads, without each one, and on other texts without groups of them."""
    pretrained = smollm2()
    model = pretrained.model
    first, second = text_of(pretrained, job.seed, 2 * job.steps * TEXT).view(2, job.steps, TEXT)
    single = singles(model, first)
    everywhere = [(layer, head) for layer, row in enumerate(single) for head in range(len(row))]
    cheap = sorted(everywhere, key=lambda at: single[at[0]][at[1]])
    groups = {
        str(count): {
            "cheapest": nats(model, second, cheap[:count]),
            "drawn": [nats(model, second, drawn(everywhere, count, DRAWS * job.seed + i)) for i in range(DRAWS)],
        }
        for count in GROUPS
    }
    return {"all": nats(model, first, []), "single": single, "other": nats(model, second, []), "groups": groups}


PARTS: Parts = {"heads": (heads_of, 1)}


def run(job: Job) -> Outcome:
    """Measure the heads on the texts of one seed."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "prose_heads",
    steps_of(PARTS),
    run,
    {"weights": "SmolLM2-135M-Instruct in four bits", "text": TEXT, "groups": GROUPS, "draws": DRAWS},
    on_cpu=True,
)
