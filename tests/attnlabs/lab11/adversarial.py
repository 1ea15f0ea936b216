"""Answers that came near to passing: right on tame inputs, wrong on what else may come; edits of the reference."""

from edited import edited

_REPEATED = {
    f"{part}.repeat_interleave(sharing, dim=1)": f"{part}[:, torch.arange(query.shape[1]) % key.shape[1]]"
    for part in ("key", "value")
}

EDITS = {
    "merge_most_frequent_pair": [
        {"(-counts[pair], pair)": "(-counts[pair], pair[0])"},
        {"(-counts[pair], pair)": "(-counts[pair], ''.join(pair))"},
        {"width = 2 if": "width = len(''.join(best)) if"},
        {"counts[pair] += count": "counts[pair] += count * len(symbols)"},
        {"in pairwise(symbols)": "in zip(symbols[::2], symbols[1::2])"},
    ],
    "language_model_targets": [
        {"tokens[:, 1:], last": "tokens[:, 1:], tokens[:, :1] * 0 + tokens.min()"},
        {"torch.cat([tokens[:, 1:], last], dim=1)": "torch.cat([tokens[:, 1:], last], dim=1).float()"},
    ],
    "grouped_query_attention": [
        _REPEATED,
        {"key.shape[1]": "2"},
        {'float("-inf")': "-100.0"},
        {'float("-inf")': "-1e4"},
        {"~mask[:, None]": "~mask[:1, None]"},
    ],
    "perplexity": [
        {"target != pad": "target > pad"},
        {"losses.where(real, 0)": "losses.clamp(max=690).where(real, 0)"},
        {"losses.where(real, 0)": "losses.clamp(max=100).where(real, 0)"},
        {").exp()": ").exp().round()"},
    ],
    "mask_for_bert": [
        {"(vocabulary - 3)": "(mask_id - 3)"},
        {"mask_id, word": "vocabulary, word"},
        {"~chosen, 0": "~chosen | (tokens == word), 0"},
        {"draw[0] < 0.9": "draw[0] < 0.92"},
        {"draw[0] < 0.8": "draw[0] <= 0.8"},
        {"draw[0] < 0.9": "draw[0] <= 0.9"},
    ],
    "top_p_filter": [
        {"before >= p": "before >= min(p, 0.9)"},
        {"logits.softmax(-1)": "(logits.exp() / logits.exp().sum(-1, keepdim=True))"},
        {"before >= p": "before[:1] >= p"},
        {"before >= p": "before > max(p, 0.3)"},
        {"ordered.cumsum(-1) - ordered": "ordered.cumsum(-1).roll(1, -1)"},
    ],
}
WRONG = edited("lab11", EDITS)
