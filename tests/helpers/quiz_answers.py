"""What the package says to the questions of the quizzes: numbers, and the texts of right choices, by chapter and id."""

import math
import re

import torch
from torch import nn

from attnbook.attention import attend, causal_mask, delta_step, masked_softmax, window_mask
from attnbook.attention.blocked import Running
from attnbook.attention.centred import local_window_mask, predicted_centre
from attnbook.attention.hard import location_log_probs
from attnbook.attention.multihead import MultiHeadAttention, split_heads
from attnbook.attention.positions import LinearBias, apply_rotary
from attnbook.attention.scores import Additive, dot, scaled_dot
from attnbook.attention.stretched import rotary_frequencies
from attnbook.data.points.tours import optimality_gap
from attnbook.data.texts.byte_pairs import count_pairs
from attnbook.decoding.penalties import length_penalty
from attnbook.decoding.sampling import sampling_probabilities
from attnbook.measure.cache import grouped_cache_bytes
from attnbook.measure.inside import cache_bytes
from attnbook.measure.path_lengths import reach
from attnbook.measure.text import perplexity
from attnbook.measure.translation import bleu_counts, bleu_from_counts
from attnbook.models.block import TransformerConfig
from attnbook.models.ntm_addressing import circular_shift, content_weights, erase_and_add, sharpen
from attnbook.models.pretrained.dequantise import q4_1
from attnbook.models.pretrained.families import neighbouring_pairs
from attnbook.models.snail import causal_convolution
from attnbook.models.transformer import Transformer
from attnbook.models.vision import patches_to_tokens
from attnbook.training.adversarial import hinge_losses
from attnbook.training.reinforce import leave_one_out_baseline, reinforce_loss
from attnruns.experiments.complexity import formula
from attnruns.results import load_result

LOGS = torch.tensor([[[1.0, 7.0, 1.0, 1.0]]]).log()  # (B, Tq, Tk): the scores of chapter 2
VALUES = torch.tensor([[[4.0, 0], [0, 2], [0, 0], [0, 7]]])  # (B, Tk, Dv)


def parameters(model: nn.Module, without: str = "bias") -> int:
    """How many numbers a model learns, without those whose name holds a word."""
    return sum(p.numel() for name, p in model.named_parameters() if without not in name)


def of_chapter_2() -> tuple[torch.Tensor, torch.Tensor]:
    return attend(torch.zeros(1, 1, 1), torch.zeros(1, 4, 1), VALUES, score=lambda query, key: LOGS)


def q4_1_block(scale: float, offset: float, byte: int) -> torch.Tensor:
    """A block of Q4_1 whose first packed byte is given: 20 bytes."""
    both = torch.tensor([scale, offset], dtype=torch.float16).view(torch.uint8)
    return torch.cat([both, torch.tensor([byte] + 15 * [0], dtype=torch.uint8)])


def absorbed_score() -> torch.Tensor:
    """The score of a short vector with a query that has absorbed the matrix of keys."""
    to_key, query, content = torch.tensor([[1.0, 0.0], [3.0, 1.0]]), torch.ones(2), torch.tensor([2.0, 1.0])
    return (to_key.T @ query) @ content


def corrected_reading() -> torch.Tensor:
    """What a key reads after a second one, which is not orthogonal to it, has been stored by the delta rule."""
    keys, memory = torch.tensor([[[1.0, 0.0]], [[0.6, 0.8]]]), None
    for key, value in zip(keys, (6.0, 2.0), strict=True):
        _, memory = delta_step(key, key, torch.tensor([[value]]), torch.ones(1), memory)
    return (keys[0] @ memory[0])[0, 0]


def kept_share() -> float:
    """What a GRU whose gates are all one half keeps of a state after three words."""
    cell = nn.GRUCell(1, 1, bias=False)
    nn.init.zeros_(cell.weight_ih)
    nn.init.zeros_(cell.weight_hh)
    state = torch.ones(1, 1)
    for _ in range(3):
        state = cell(torch.zeros(1, 1), state)
    return state.item()


def residual_slope() -> float:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(4):
        y = y + 0.5 * y
    return torch.autograd.grad(y, x)[0].item()


def estimate() -> float:
    scores = torch.zeros(2, requires_grad=True)
    log_prob = location_log_probs(scores.softmax(0)[None, None], torch.tensor([[0]]))
    return -torch.autograd.grad(reinforce_loss(log_prob, torch.tensor([[3.0]])), scores)[0][0].item()


def lengths_of_equal_cost() -> int:
    return next(n for n in range(2, 2000) if formula("self_attention", n, 100) == formula("lstm", n, 100))


def encoder_matrices() -> int:
    model = Transformer(5, 5, TransformerConfig(d_model=10, heads=2, layers=1, d_ff=40))
    return sum(p.numel() for p in model.encoder.parameters() if p.ndim == 2)


def pre_norm() -> float:
    x = torch.tensor([2.0, 4, 4, 6])
    return (x + 10 * nn.LayerNorm(4)(x) * torch.tensor([1.0, 0, 0, 0]))[0].item()


def wanted_probability() -> float:
    logits = torch.zeros(1, 5, requires_grad=True)
    loss = nn.functional.cross_entropy(logits, torch.tensor([0]), label_smoothing=0.1)
    return 0.2 - torch.autograd.grad(loss, logits)[0][0, 0].item()  # the gradient is p − q, and p is 1/5


def clipped_precision() -> float:
    counts = bleu_counts(["the the the cat"], ["the cat sat on the mat"], lower=False)[0]  # (10,)
    return (counts[2] / counts[6]).item()  # right ones and all, of the single tokens


def rotated_score() -> float:
    pair, step = torch.tensor([[2.0, 0.0]]), math.radians(30)  # the first pair turns by one radian per position
    return (apply_rotary(pair, torch.tensor([90 * step])) @ apply_rotary(pair, torch.tensor([92 * step])).T).item()


def text_perplexity() -> float:
    p = torch.tensor([1 / 2, 1 / 4, 1 / 8])
    logits = torch.stack([torch.zeros(3), (p / (1 - p)).log()], dim=-1)[None]
    return perplexity(logits, torch.ones(1, 3, dtype=torch.long))


def block_total() -> float:
    state = Running(*(torch.tensor([[x]]) for x in (-math.inf, 0.0, 0.0)))
    for scores in ([2.0, 4.0], [6.0, 5.0]):
        state = state.add(torch.tensor([scores]), torch.zeros(2, 1))
    return state.total.item()


def written() -> float:
    memory, weights = torch.tensor([[[1.0], [0.0]]]), torch.tensor([[0.75, 0.25]])
    return erase_and_add(memory, weights, torch.tensor([[1.0]]), torch.tensor([[2.0]]))[0, 0].item()


def sharpened() -> float:
    moved = circular_shift(torch.eye(8)[0], torch.tensor([0.05, 0.9, 0.05]))
    return sharpen(moved, torch.tensor([2.0]))[0].item()


def one_row_of(rows: int) -> torch.Tensor:
    """A memory in which row 0 resembles the key (1, 1), and all others are at right angles to it."""
    memory = torch.tensor([[[1.0, -1.0]]]).repeat(1, rows, 1)
    memory[:, 0] = 1.0
    return memory


def spread(features: int) -> float:
    """The standard deviation of dot products, measured."""
    query, key = torch.randn(2, 400_000 // features * 8, features).unbind()
    return (query * key).sum(dim=-1).std().item()


def one_step(x, y, rate):
    """The slope of a line through 0 after one step of gradient descent from the slope 0."""
    slope = torch.zeros(1, requires_grad=True)
    (0.5 * (slope * x - y).square().sum()).backward()
    return -rate * slope.grad


def fourth_output() -> float:
    x = torch.tensor([[[2.0], [0.0], [1.0], [3.0]]])
    return causal_convolution(x, torch.tensor([[[0.5, 1.0]]]), dilation=2)[0, 3, 0].item()


def local_score_field() -> int:
    x = torch.zeros(1, 1, 60, requires_grad=True)
    y = x
    for size, stride in ((3, 1), (4, 2), (3, 1), (3, 1)):
        y = nn.functional.conv1d(y, torch.ones(1, 1, size), stride=stride)
    y[0, 0, y.shape[-1] // 2].backward()
    return int((x.grad != 0).sum())


NUMBERS = {
    "01/parameters": lambda: nn.Linear(2 * 128 + 32, 35).weight.numel(),
    "01/gate": kept_share,
    "01/bits": lambda: 4 * math.log2(1000),
    "02/weight": lambda: of_chapter_2()[1][0, 0, 1],
    "02/context": lambda: of_chapter_2()[0][0, 0, 1],
    "03/dot": lambda: scaled_dot(torch.tensor([[[2.0, 0, 1, 0]]]), torch.full((1, 1, 4), 2.0)),
    "03/parameters": lambda: parameters(Additive(20, 30, 10)),
    "03/variance": lambda: round(spread(256)),
    "04/centre": lambda: predicted_centre(torch.zeros(1, 1), torch.tensor([6]), torch.ones(1, 1), torch.ones(1)),
    "04/window": lambda: local_window_mask(torch.tensor([4.6]), torch.tensor([6]), 2).sum(),
    "05/residual": residual_slope,
    "05/paths": lambda: len(torch.cartesian_prod(*[torch.arange(2)] * 4)),
    "05/pieces": lambda: len(re.findall("_acht|acht|zehn|und|zig|[a-z]", "_achtundachtzig")),  # longer ones first
    "05/penalty": lambda: -3 / length_penalty(torch.tensor(7.0), 1.0),
    "06/expected": lambda: torch.tensor([0.5, 0.3, 0.2]) @ torch.tensor([-3.0, -1, -2]),
    "06/estimate": estimate,
    "06/others": lambda: -3 - leave_one_out_baseline(torch.tensor([[-3.0, -1.0]]))[0, 0],
    "07/score": lambda: dot(torch.tensor([[[2.0, 0, 1]]]), torch.tensor([[[2.0, 0, -1]]])),
    "07/causal": lambda: causal_mask(6).sum(),
    "07/cost": lengths_of_equal_cost,
    "08/parameters": lambda: parameters(MultiHeadAttention(64, 8), without="nothing"),
    "08/rotary": rotated_score,
    "08/alibi": lambda: -LinearBias(4).bias(torch.tensor([0]), torch.tensor([4]))[0],
    "09/layer": encoder_matrices,
    "09/norm": pre_norm,
    "09/smoothing": wanted_probability,
    "10/greedy": lambda: torch.tensor([0.393, 0.152, 0.096]).prod(),
    "10/nucleus": lambda: (
        sampling_probabilities(torch.tensor([[0.605, 0.222, 0.082, 0.05, 0.03, 0.011]]).log(), top_p=0.8) > 0
    ).sum(),
    "10/cache": lambda: causal_mask(100).sum(),
    "11/merge": lambda: max(
        count_pairs({tuple(w): n for w, n in zip(("cat", "cats", "hat", "hot"), (6, 3, 4, 2), strict=True)}).values()
    ),
    "11/perplexity": text_perplexity,
    "12/blocks": block_total,
    "12/reach": lambda: reach(causal_mask(40) & window_mask(40, 4), 4)[-1].sum(),
    "12/idle": lambda: torch.tensor([4.0, 0, 0, 0]).softmax(0) @ torch.tensor([0.0, 1, 2, 3]),
    "13/erase": written,
    "13/circle": lambda: circular_shift(torch.eye(8)[7], torch.tensor([0.0, 0.1, 0.9]))[0],
    "13/sharpen": sharpened,
    "14/mask": lambda: masked_softmax(torch.tensor([5.0, 3, 2]).log(), torch.tensor([False, True, True]))[1],
    "14/copy": lambda: 0.8 * 0 + 0.2 * (0.5 + 0.3),
    "15/convolution": fourth_output,
    "15/step": lambda: 4 * one_step(torch.tensor([1.0, 2]), torch.tensor([3.0, 6]), rate=0.2),
    "16/chance": lambda: torch.tensor([0.9, 0.1]) @ torch.tensor([0.8, 0.2]),
    "16/hinge": lambda: hinge_losses(torch.tensor([1.5, 0.5]), torch.tensor([-2.0, 0.2]))[0],
    "16/field": local_score_field,
    "16/vit": lambda: patches_to_tokens(torch.zeros(1, 3, 32, 32), 8).shape[1] + 1,  # and the class token
    "17/scale": lambda: 12 / 30,
    "17/score": lambda: 4 + 6 * math.cos((20 - 7) * rotary_frequencies(16)[2]),
    "17/exact": lambda: 0.99**31,
    "18/clipping": clipped_precision,
    "18/brevity": lambda: bleu_from_counts(torch.tensor([[8, 10, 8, 7, 6, 5, 8, 7, 6, 5]])),
    "18/seeds": lambda: torch.tensor([36.2, 38.0, 38.1]).var() / 3,
    "13e/search": lambda: content_weights(torch.ones(1, 2), torch.full((1, 1), 3.0), one_row_of(20))[0, 0],
    "13e/lead": lambda: sharpen(torch.tensor([0.1, 0.05]), torch.tensor([3.0]))[0],
    "14e/corners": lambda: torch.full((5 + 1,), 0.9).prod(),
    "14e/rounded": lambda: 100 * optimality_gap(torch.tensor([2.885]), torch.tensor([2.865])),
    "19/order": lambda: neighbouring_pairs(torch.arange(8), 1).tolist().index(5),
    "19e/controls": lambda: sum(map(len, load_result("real_heads")["runs"][0]["17"]["without"])),  # tests in the record
    "19/block": lambda: q4_1(q4_1_block(0.25, -2.0, 163))[16],
    "19/cache": lambda: cache_bytes(
        TransformerConfig(d_model=1024, layers=24, heads=16, key_value_heads=4), bytes_per_number=2
    ),
    "20/cache": lambda: grouped_cache_bytes(layers=32, key_value_heads=4, head_features=128, number=2),
    "20e/latent": absorbed_score,
    "20/delta": corrected_reading,
    "20e/bits": lambda: torch.tensor([-1.0, 0.0, 0.5, 2.0]).sort().values.diff().sum() / (2**2 - 1),
    "20e/accept": lambda: torch.minimum(torch.tensor([0.6, 0.4]), torch.tensor([0.9, 0.1])).sum(),
}
TEXTS = {
    "02/shapes": lambda: str(
        tuple(attend(torch.zeros(1, 3, 2), torch.zeros(1, 4, 2), torch.zeros(1, 4, 2))[1].shape[1:])
    ),
    "08/shapes": lambda: str(
        tuple((split_heads(torch.zeros(32, 50, 512), 8) @ split_heads(torch.zeros(32, 50, 512), 8).mT).shape)
    ),
    "09/cross": lambda: str(
        tuple(attend(torch.zeros(1, 10, 2), torch.zeros(1, 7, 2), torch.zeros(1, 7, 2))[1].shape[1:])
    ),
}
