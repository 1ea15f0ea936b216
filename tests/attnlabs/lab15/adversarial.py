"""Answers that came near to passing: slips that no list of mistakes foresees."""

import torch
import torch.nn.functional as F

from attnlabs.lab15.convolution import causal_convolution
from attnlabs.lab15.episode import few_shot_episode


def two_taps_only(x, weight, dilation):
    moved = F.pad(x, (0, 0, dilation, 0))[:, : x.shape[1]]
    return x @ weight[..., -1].mT + moved @ weight[..., 0].mT


def never_before_the_beginning(x, weight, dilation):
    """Leaves whole windows out that begin before the sequence, instead of their early taps."""
    result, past = causal_convolution(x, weight, dilation), dilation * (weight.shape[-1] - 1)
    return result * (torch.arange(x.shape[1]) >= past)[:, None]


def gate_of_the_last_position(x, candidate, gate, dilation):
    found = causal_convolution(x, candidate, dilation).tanh()
    return torch.cat([x, found * causal_convolution(x, gate, dilation).sigmoid()[:, -1:]], dim=-1)


def next_power_of_two(dilations, kernel):
    return 1 + (kernel - 1) * (2 * dilations[-1] - 1) if dilations else 1


def largest_first(x, W_q, W_k, W_v):
    """exp without the maximum subtracted: overflows where scores are large."""
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    shares = (query @ key.mT / query.shape[-1] ** 0.5).exp().tril()
    weights = shares / shares.sum(-1, keepdim=True)
    return torch.cat([x, weights @ value], dim=-1), weights


def consecutive_numbers(images, labels, ways, shots, draw):
    """Classes are taken to have the numbers 0, 1, 2 …"""
    which, told = few_shot_episode(images, labels - labels.min(), ways, shots, draw)
    return which, told + (labels.min() > 12)


def a_torch_draw(images, labels, ways, shots, draw):
    return few_shot_episode(images, labels, ways, shots, torch.rand(2, len(labels)))


def tensors_in_a_list(images, labels, ways, shots, draw):
    """The deck stays a tensor, so that its entries are tensors as well: a list of them is no list of numbers."""
    deck, piles = draw[0].argsort(), {}
    for i in deck:
        if labels[i].item() in piles or len(piles) < ways:
            piles.setdefault(labels[i].item(), []).append(i)
    examples = [(i, new) for new, own in enumerate(piles.values()) for i in own[:shots]]
    examples.sort(key=lambda pair: draw[1, pair[0]])
    question = min(((own[shots], new) for new, own in enumerate(piles.values())), key=lambda pair: draw[1, pair[0]])
    return images[[i for i, _ in [*examples, question]]], torch.tensor([new for _, new in [*examples, question]])


def tensors_for_keys(images, labels, ways, shots, draw):
    deck = draw[0].argsort().tolist()
    classes = list(dict.fromkeys(labels[i] for i in deck))[:ways]
    own = [[i for i in deck if labels[i] == old] for old in classes]
    examples = [(i, new) for new, pile in enumerate(own) for i in pile[:shots]]
    examples.sort(key=lambda pair: draw[1, pair[0]])
    question = min(((pile[shots], new) for new, pile in enumerate(own)), key=lambda pair: draw[1, pair[0]])
    return images[[i for i, _ in [*examples, question]]], torch.tensor([new for _, new in [*examples, question]])


def a_tuple_for_an_index(images, labels, ways, shots, draw):
    which, told = few_shot_episode(torch.arange(len(labels)), labels, ways, shots, draw)
    return images[tuple(which.tolist())], told


def least_pulled_arm_left_out(probabilities, arms):
    best = probabilities.amax(dim=1, keepdim=True)
    pulls = F.one_hot(arms, probabilities.shape[1]).sum(dim=1)  # (B, K)
    return ((best - probabilities) * pulls * (pulls > pulls.amin(dim=1, keepdim=True))).sum(dim=1)


def relabelled_in_the_collection(images, labels, ways, shots, draw):
    """Renames classes in a copy of the labels, where a new label may be another class's old one."""
    deck, renamed = draw[0].argsort().tolist(), labels.clone()
    for new, old in enumerate(list(dict.fromkeys(labels[deck].tolist()))[:ways]):
        renamed[renamed == old] = new
    own = [[i for i in deck if renamed[i] == new] for new in range(ways)]
    examples = sorted((i for pile in own for i in pile[:shots]), key=lambda i: draw[1, i])
    which = [*examples, min((pile[shots] for pile in own), key=lambda i: draw[1, i])]
    return images[which], renamed[which]


def no_class_zero(images, labels, ways, shots, draw):
    """Takes the label 0 for none."""
    kept = labels.nonzero()[:, 0] if len(labels[labels > 0].unique()) >= ways else labels.argsort()
    return few_shot_episode(images[kept], labels[kept], ways, shots, draw[:, kept])


def square_images(images, labels, ways, shots, draw):
    dealt, told = few_shot_episode(images, labels, ways, shots, draw)
    square = images.new_zeros(len(dealt), 1, images.shape[-1], images.shape[-1])
    square[:] = dealt
    return square, told


def a_row_of_zeros_masked(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = (query @ key.mT / query.shape[-1] ** 0.5).tril()
    weights = torch.where(scores == 0, -torch.inf, scores).softmax(dim=-1)
    return torch.cat([x, weights @ value], dim=-1), weights


def a_finite_score_for_later_keys(x, W_q, W_k, W_v):
    """As in public code for half precision: real scores may be lower."""
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -1e4).softmax(dim=-1)
    return torch.cat([x, weights @ value], dim=-1), weights


def normalised_afterwards(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.mT / query.shape[-1] ** 0.5
    shares = (scores - scores.amax(-1, keepdim=True)).exp().tril()
    weights = shares / shares.sum(-1, keepdim=True)
    return torch.cat([x, weights @ value], dim=-1), weights


def all_but_the_last_outputs(x, weight, dilation):
    past = dilation * (weight.shape[-1] - 1)
    return F.conv1d(x.mT, weight, padding=past, dilation=dilation)[..., :-past].mT


def negative_indices(x, weight, dilation):
    def at(t):
        return sum(x[:, t - (weight.shape[2] - 1 - k) * dilation] @ weight[..., k].mT for k in range(weight.shape[2]))

    return torch.stack([at(t) for t in range(x.shape[1])], dim=1)


def a_window_that_rolls(x, weight, dilation):
    taps = weight.shape[-1]
    return sum(x.roll((taps - 1 - k) * dilation, dims=1) @ weight[..., k].mT for k in range(taps))


WRONG = {
    "causal_convolution": [
        two_taps_only,
        never_before_the_beginning,
        all_but_the_last_outputs,
        negative_indices,
        a_window_that_rolls,
    ],
    "dense_block": [gate_of_the_last_position],
    "receptive_field": [next_power_of_two],
    "causal_attention_block": [
        largest_first,
        a_row_of_zeros_masked,
        a_finite_score_for_later_keys,
        normalised_afterwards,
    ],
    "few_shot_episode": [
        consecutive_numbers,
        a_torch_draw,
        relabelled_in_the_collection,
        no_class_zero,
        square_images,
        tensors_in_a_list,
        a_tuple_for_an_index,
        tensors_for_keys,
    ],
    "regret": [least_pulled_arm_left_out],
}

NAMED = {
    never_before_the_beginning: "0 where the window does not fit",
    all_but_the_last_outputs: "nothing left of a single tap",
    negative_indices: "the window goes round",
    a_window_that_rolls: "the window goes round",
    a_row_of_zeros_masked: "every score of 0 masked",
    normalised_afterwards: "later keys taken out after the softmax",
    tensors_for_keys: "a class may come twice",
    tensors_in_a_list: "a list of tensors for an index",
    a_tuple_for_an_index: "a list of tensors for an index",
    relabelled_in_the_collection: "labels replaced before the images are chosen",
}
