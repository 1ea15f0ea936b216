"""Answers that passed once, wrong at the edges of what a text allows only: edits of the reference."""

from edited import edited

WRONG = edited(
    "lab12",
    {
        "online_softmax_sum": [
            {"summed / total": "(summed / total).squeeze(1)"},
            {"parts @ values": "(parts.float() @ values.float()).to(values)"},
            {"summed / total": "(summed / total).squeeze(-1)"},
            {"-math.inf": "-1e4"},
        ],
        "window_attention": [
            {".softmax(dim=-1)": ".exp()\n    weights = weights / weights.sum(-1, keepdim=True)"},
            {"-torch.inf": "-1e4"},
        ],
        "segment_memory": [{"known[:, max": "known.float().to(known)[:, max"}],
        "relative_scores": [
            {"by_distance.gather(2,": "by_distance.squeeze(-1).gather(-1,"},
            {"distance.T": "distance.squeeze(0).T"},
        ],
        "knn_probabilities": [
            {".softmax(dim=-1)": ".exp()\n    weights = weights / weights.sum(-1, keepdim=True)"},
            {
                "(query[:, None] - keys)": "(query[:, None].float() - keys.float())",
                "weights.new_zeros": "query.new_zeros",
                "weights)": "weights.to(query))",
            },
            {"distances.topk(k, largest=False)": "distances.squeeze().topk(k, largest=False)"},
        ],
        "mix_probabilities": [
            {"return weight": "model, memory = model.squeeze(), memory.squeeze()\n    return weight"},
            {"weight * memory": "weight * memory.float()"},
        ],
    },
)
