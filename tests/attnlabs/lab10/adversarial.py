"""Answers that passed once: right on the small and tame, wrong on what else may come: edits of the reference."""

from edited import edited

_FILL = 'only_eos = torch.full_like(log_p, float("-inf"))'
_GOES_ON, _SELECT = "~ended[..., None]", "state = select(state, rows"
_EVERY_PART = "tuple(part.gather(0, r[:, None].expand(-1, part.shape[1])) for part in s)"

EDITS = {
    "sample_with_temperature": [
        {"logits / temperature": "logits / max(temperature, 0.3)"},
        {"(logits / temperature).softmax(-1)": "F.normalize(logits.softmax(-1) ** (1 / temperature), p=1, dim=-1)"},
        {"temperature == 0": "temperature < 1e-4"},
        {"temperature == 0": "isinstance(temperature, float) and temperature == 0"},
    ],
    "read_cached": [
        {'scores.masked_fill(~allowed, float("-inf")).softmax(-1)': "F.normalize(scores.exp() * allowed, p=1, dim=-1)"},
        {".tril(before)": ".tril(before).triu(before - 15)"},
        {'float("-inf")': "-100.0"},
        {'float("-inf")': "-1e4"},
    ],
    "greedy_decode_cached": [
        {"range(max_length)": "range(max(max_length, 2))"},
        {"range(max_length)": "range(min(max_length, 20))"},
    ],
    "beam_search": [
        {"range(max_length)": "range(max(max_length, 2))"},
        {_FILL: "only_eos = torch.full_like(log_p, -30.0)"},
        {_FILL: "only_eos = torch.full_like(log_p, -1e3)"},
        {_FILL: "only_eos = torch.full_like(log_p, -1e4)"},
        {"return tokens[..., 1:], scores": "return tokens[..., 1:], scores.exp().log()"},
        {"torch.where(ended[..., None], only_eos, log_p)": f"log_p * {_GOES_ON} + only_eos.masked_fill({_GOES_ON}, 0)"},
        {"logits.log_softmax(-1)": "(logits - logits.exp().sum(-1, keepdim=True).log())"},
        {_SELECT: f"select = lambda s, r: {_EVERY_PART}\n    {_SELECT}"},
    ],
    "error_after_first_mistake": [
        {"max(right_before.sum().item(), 1)": "right_before.sum().item()"},
        {"wrong.long().cumsum(1) - wrong.long()": "wrong.cumsum(1, dtype=torch.int8) - wrong.to(torch.int8)"},
    ],
    "mix_with_own_output": [
        {"chance < keep": "chance < (0 if keep < 0.2 else keep)"},
        {"chance < keep": "chance < (1 if keep > 0.8 else keep)"},
        {"chance < keep, target_input, own)": "chance < keep, target_input.half(), own).long()"},
    ],
}
WRONG = edited("lab10", EDITS)
