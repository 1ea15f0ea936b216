"""Right answers of lab 4 in other styles than the reference's."""

import math

import torch
import torch.nn.functional as F


def attentional_state__two_products(context, hidden, W_c):
    of_context, of_hidden = W_c.split([context.shape[1], hidden.shape[1]], dim=1)
    return torch.tanh(context @ of_context.T + hidden @ of_hidden.T)


def attentional_state__two_sigmoids(context, hidden, W_c):
    return 2 * torch.sigmoid(2 * torch.hstack([context, hidden]) @ W_c.T) - 1


def input_feeding_step__einsum(embedded, attentional, state, annotations, mask, score, cell, W_c):
    state = cell(torch.cat((embedded, attentional), 1), state)
    exps = score(state[:, None], annotations)[:, 0].exp() * mask
    weights = exps / exps.sum(1, keepdim=True)
    context = torch.einsum("bt,btd->bd", weights, annotations)
    return F.linear(torch.cat((context, state), 1), W_c).tanh(), state, weights


def input_feeding_step__large_negative(embedded, attentional, state, annotations, mask, score, cell, W_c):
    state = cell(inputs=torch.hstack([embedded, attentional]), state=state)
    weights = score(query=state.unsqueeze(1), key=annotations).squeeze(1).masked_fill(mask == 0, -1e9).softmax(1)
    context = torch.bmm(weights.unsqueeze(1), annotations).squeeze(1)
    return [attentional_state__two_products(context, state, W_c), state, weights]


def input_feeding_step__logarithm_of_the_mask(embedded, attentional, state, annotations, mask, score, cell, W_c):
    state = cell(torch.cat([embedded, attentional], -1), state)
    weights = (score(state[:, None], annotations) + mask[:, None].to(state.dtype).log()).softmax(-1)
    return attentional_state__two_products((weights @ annotations)[:, 0], state, W_c), state, weights[:, 0]


def local_window_mask__slices(centre, lengths, half_width, max_length):
    mask = torch.zeros(len(centre), max_length, dtype=torch.bool, device=centre.device)
    for b, length in enumerate(lengths.tolist()):
        p = min(max(centre[b].item(), 0), length - 1)
        mask[b, max(0, math.ceil(p - half_width)) : min(length, math.floor(p + half_width) + 1)] = True
    return mask


def local_window_mask__two_edges(centre, lengths, half_width, max_length):
    p = torch.clamp(centre, torch.zeros_like(centre), (lengths - 1).to(centre))[:, None]
    s = torch.arange(max_length, device=centre.device)
    return (s >= p - half_width) & (s <= p + half_width) & (s < lengths[:, None])


def gaussian_window__power(centre, half_width, max_length):
    distance = centre.unsqueeze(1) - torch.arange(max_length, device=centre.device)
    return math.e ** (-(distance * distance) * 2 / half_width**2)


def gaussian_window__ratio_of_densities(centre, half_width, max_length):
    normal = torch.distributions.Normal(centre[:, None], half_width / 2)
    return (normal.log_prob(torch.arange(max_length, device=centre.device)) - normal.log_prob(centre[:, None])).exp()


def predicted_centre__half_a_tanh(hidden, lengths, W_p, v_p):
    return lengths * (torch.tanh((torch.tanh(hidden @ W_p.T) * v_p).sum(1) / 2) + 1) / 2


def predicted_centre__einsum(hidden, lengths, W_p, v_p):
    return torch.sigmoid(torch.einsum("a,ba->b", v_p, torch.einsum("ad,bd->ba", W_p, hidden).tanh())) * lengths


def location_features__conv1d(previous, filters):
    return F.conv1d(previous[:, None], filters[:, None], padding=filters.shape[1] // 2).transpose(1, 2)


def location_features__one_matrix_per_filter(previous, filters):
    count, width = previous.shape[1], filters.shape[1]
    s = torch.arange(count, device=previous.device)
    k = s - s[:, None] + width // 2  # which number of a filter at position j meets the weight at s
    table = filters[:, k.clamp(0, width - 1)] * ((k >= 0) & (k < width))  # (F, Tk, Tk)
    return torch.einsum("bs,fjs->bjf", previous, table)
