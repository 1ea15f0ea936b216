"""Answers that came near to passing: slips that no list of mistakes foresees."""

import torch
from edited import edited


def heads_that_the_width_allows(config, tokens):
    """Right as long as there are no local layers."""
    width = config["heads"] * config["head_features"]
    group = config["heads"] // config["key_value_heads"]
    return 2 * config["layers"] * tokens * (width // group) * config["bits"] // 8


def window_of_a_known_model(config, tokens):
    local = config["local_layers"] * min(tokens, 1024)
    kept = (config["layers"] - config["local_layers"]) * tokens + local
    return 2 * kept * config["key_value_heads"] * config["head_features"] * config["bits"] // 8


def thirds_of_a_known_model(dim, factor, trained, base, slow, fast):
    """A third of the pairs stays, a third is mixed evenly, and a third is interpolated."""
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    kept = torch.linspace(1.5, -0.5, len(old), dtype=torch.float64).clamp(0, 1)
    return (1 - kept) * old / factor + kept * old


def no_pair_between(dim, factor, trained, base, slow, fast):
    old = base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    turns = trained * old / (2 * torch.pi)
    return torch.where(turns > (slow + fast) / 2, old, old / factor)


def own_random_numbers(guessed, draft, model, chances):
    kept = 0
    while kept < len(guessed) and torch.rand(()) < model[kept, guessed[kept]] / draft[kept, guessed[kept]]:
        kept += 1
    left = model[kept] if kept == len(guessed) else (model[kept] - draft[kept]).clamp(min=0)
    return kept, int(left.multinomial(1))


_DIVISOR = "(query * total).sum(dim=-1, keepdim=True)"
_OTHERS = edited(
    "lab20",
    {
        "linear_attention": [
            {"scores.sum(dim=-1, keepdim=True)": f"scores.sum(dim=-1, keepdim=True){guard}"}
            for guard in (" + 1e-9", " + 1e-12", ".clamp(min=0.1)", ".clamp(min=1e-7)")
        ],
        "linear_attention_step": [
            *({_DIVISOR: f"{_DIVISOR}.clamp(min={least})"} for least in ("1e-7", "1e-3", "0.3")),
            *(
                {f"read / {_DIVISOR}": f"torch.where({_DIVISOR} > {least}, read / {_DIVISOR}, 0.0)"}
                for least in ("1e-6", "1e-3", "1e-2", "1e-1")
            ),
            {_DIVISOR: f"({_DIVISOR} + 1e-9)"},
        ],
        "speculative_accept": [
            {"chances[:count] < ratios": "chances[:count] < ratios.clamp(max=0.999)"},
            {"chances[:count] < ratios": "chances[:count] < ratios - 1e-4"},
            {"(ends <= chances[count] * ends[-1])": "(ends < chances[count] + 1e-12 * (kept < count))"},
            *({"/ draft[at, guessed]": f"/ (draft[at, guessed] + {small})"} for small in ("1e-12", "1e-6", "1e-3")),
            *(
                {"left / left.sum()": f"left / (left.sum() + {small})", " * ends[-1]": ""}
                for small in ("1e-12", "1e-3")
            ),
        ],
        "latent_attention": [
            {"asked @ latent.mT": "(asked @ latent.mT).float()"},
            {"weights @ latent ": "weights @ latent.float().to(weights) "},
            {"(scores / scale).softmax": "(scores / scale).exp().nan_to_num().softmax"},
        ],
    },
)
WRONG: dict = {"grouped_cache_bytes": [heads_that_the_width_allows, window_of_a_known_model], **_OTHERS}
