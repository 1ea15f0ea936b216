"""Transformer-XL: distances against a loop, memory against one long segment, and where gradients end."""

import pytest
import torch
from torch import nn

from attnbook.attention import sinusoidal_positions
from attnbook.decoding import greedy
from attnbook.models.block import TransformerConfig
from attnbook.models.transformer_xl import TransformerXL, align_distances, segment_memory

B, V, D, H = 2, 9, 8, 2


def small(memory: int = 4, layers: int = 2, norm: str = "pre", **changes) -> TransformerXL:
    torch.manual_seed(1)
    config = TransformerConfig(d_model=D, heads=H, layers=layers, d_ff=12, norm=norm, positions="none", **changes)
    model = TransformerXL(V, config, memory)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()


@pytest.fixture
def words(device):
    return torch.randint(3, V, (B, 12), generator=torch.Generator().manual_seed(0)).to(device)


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 5), (4, 4), (3, 7)])
def test_the_shift_is_the_slow_loop(draw, queries, keys):
    scores = draw(2, queries, keys)
    shifted = align_distances(scores)
    for i in range(queries):
        position = keys - queries + i
        for j in range(position + 1):
            assert torch.equal(shifted[:, i, j], scores[:, i, keys - 1 - (position - j)])


def test_more_queries_than_keys_are_refused():
    with pytest.raises(ValueError, match="Tq <= Tk; got Tq = 3 and Tk = 2"):
        align_distances(torch.zeros(3, 2))


def test_scores_are_the_four_terms_of_the_paper(draw, device, dtype, close):
    attention = small().to(device, dtype).blocks.layers[0].self_attention
    x, memory = draw(1, 3, D), draw(1, 2, D, seed=1)
    both = torch.cat([memory, x], dim=1)  # (1, 5, D)
    positions = torch.arange(5, device=device)
    mask = positions <= positions[2:, None]  # (3, 5)
    heads = attention.project(both, both, positions)
    _, weights = attention.attend(x, heads, mask, positions[2:], positions)
    distances = sinusoidal_positions(5, D).to(x)  # row d: R(d)
    for h in range(H):
        part = slice(h * D // H, (h + 1) * D // H)
        w_q, w_k, w_r = (
            layer.weight[part] for layer in (attention.project_query, attention.project_key, attention.project_distance)
        )
        u, v = attention.content_bias[h], attention.distance_bias[h]
        for i in range(3):
            q, scores = w_q @ x[0, i], []
            for j in range(i + 3):
                k, r = w_k @ both[0, j], w_r @ distances[i + 2 - j]
                scores.append(q @ k + q @ r + u @ k + v @ r)
            wanted = (torch.stack(scores) / (D // H) ** 0.5).softmax(dim=0)
            close(weights[0, h, i, : i + 3], wanted)
            assert weights[0, h, i, i + 3 :].eq(0).all()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("segment", [1, 3, 5])
def test_with_a_memory_of_all_that_was_segments_are_one_long_segment(words, device, dtype, close, norm, segment):
    model = small(memory=12, norm=norm).to(device, dtype)
    close(model(words, segment)[0], model(words)[0])


def test_in_one_layer_the_gradients_of_its_weights_are_those_of_one_long_segment(words, device, dtype, close):
    gradients = []
    for segment in (3, None):
        model = small(memory=12, layers=1).to(device, dtype)
        model(words, segment)[0].sin().sum().backward()
        gradients.append([parameter.grad for parameter in model.blocks.parameters()])
    for one, other in zip(*gradients, strict=True):
        close(one, other)


def test_without_memory_a_segment_knows_nothing_of_the_one_before(words, close, device):
    model = small(memory=0).to(device)
    logits, weights = model(words, 4)
    close(logits[:, 4:8], model(words[:, 4:8])[0])
    segment = torch.arange(12, device=device) // 4
    assert weights[:, segment[:, None] != segment].eq(0).all()


@pytest.mark.parametrize("segment", [None, 1, 5])
def test_weights_of_a_text_are_those_of_its_segments_each_at_its_place(segment, words, close, device, float64):
    model = small(memory=3).to(device, float64)
    _, weights = model(words, segment)
    maps = model.maps(words, segment)
    assert [tuple(layer.shape) for layer in maps] == [(*words.shape[:1], H, 12, 12)] * len(model.blocks.layers)
    close(weights, maps[-1].mean(dim=1))
    close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert weights.triu(1).eq(0).all()
    _, memory, _ = model.read(words[:, : segment or 12], model.start())
    if segment:
        _, _, second = model.read(words[:, segment : 2 * segment], memory)
        first = segment - memory[0].shape[1]  # the first word that the memory holds
        close(maps[0][:, :, segment : 2 * segment, first : 2 * segment], second[0])


@pytest.mark.parametrize("memory", [0, 3, 20])
def test_word_by_word_it_reads_as_in_segments_of_one_word(memory, words, close, device, float64):
    model = small(memory=memory).to(device, float64)
    state, stepped = model.start(), []
    for token in words.unbind(dim=1):
        logits, state, _ = model.step(token, state)
        stepped.append(logits)
    close(torch.stack(stepped, dim=1), model(words, 1)[0])
    if memory >= 11:  # no word is forgotten
        close(torch.stack(stepped, dim=1), model(words)[0])


def test_it_writes_what_it_finds_likeliest(words, device):
    model = small(memory=30).to(device)
    written = greedy(model, prompt=words[:, :5], max_length=4, eos=-1).tokens
    whole = torch.cat([words[:, :5], written], dim=1)
    assert torch.equal(model(whole)[0][:, 4:-1].argmax(dim=-1), written)


def test_words_beyond_layers_times_memory_change_nothing_and_nearer_ones_do(words, device):
    model, other = small(memory=2).to(device), words.clone()
    for at in range(12):
        changed = torch.where(torch.arange(12, device=device) == at, (other - 2) % (V - 3) + 3, other)
        differs = (model(changed, 2)[0][:, -2] - model(words, 2)[0][:, -2]).abs().amax() > 1e-7
        assert differs == (6 <= at <= 10)  # position 10, first of its segment: two layers, a memory of 2 each


def test_memory_gets_no_gradient(words, device):
    model = small().to(device)
    _, memory, _ = model.read(words[:, :4], model.start())
    assert not any(kept.requires_grad for kept in memory)
    seen = {}
    model.embed.words.register_forward_hook(lambda module, given, out: seen.setdefault(len(seen), out).retain_grad())
    logits, _ = model(words[:, :8], 4)
    logits[:, 4:].sum().backward()
    assert seen[0].grad.abs().sum() == 0
    assert seen[1].grad.abs().sum() > 0


def test_all_layers_share_u_and_v():
    layers = small().blocks.layers
    assert layers[0].self_attention.content_bias is layers[1].self_attention.content_bias
    assert layers[0].self_attention.distance_bias is layers[1].self_attention.distance_bias


def test_a_memory_keeps_the_last_states(draw):
    states, memory = draw(2, 3, 4, grad=True), draw(2, 2, 4, seed=1)
    assert torch.equal(segment_memory(states, memory, 4), torch.cat([memory[:, -1:], states], dim=1))
    assert torch.equal(segment_memory(states, None, 2), states[:, -2:])
    assert segment_memory(states, memory, 9).shape == (2, 5, 4)
    assert segment_memory(states, memory, 0) is None
    assert not segment_memory(states, memory, 4).requires_grad


def test_what_it_has_no_use_for_is_refused(words):
    with pytest.raises(ValueError, match=r"positions must be 'none', .* got 'rotary'"):
        TransformerXL(V, TransformerConfig(), 4)
    with pytest.raises(ValueError, match="fused attention returns no weights"):
        small(fused=True)
    with pytest.raises(ValueError, match="memory_length must be at least 0, got -1"):
        small(memory=-1)
    with pytest.raises(ValueError, match=r"length must be at least 0 \(no memory\), got -2"):
        segment_memory(torch.zeros(1, 1, 1), None, -2)
    with pytest.raises(ValueError, match=r"words must have shape \(B, T\)"):
        small()(words[0].cpu())


def test_heads_may_share_keys_and_values(words):
    plain, grouped = small(), small(key_value_heads=1)
    attention = grouped.blocks.layers[0].self_attention
    assert attention.project_key.weight.shape == attention.project_value.weight.shape == (D // H, D)
    saved = 2 * 2 * (D - D // H) * D  # in two layers, keys and values
    assert sum(p.numel() for p in plain.parameters()) - sum(p.numel() for p in grouped.parameters()) == saved
    state = grouped.state_dict()
    for name in state:
        if "project_key" in name or "project_value" in name:
            state[name] = state[name].repeat(H, 1)  # each head its own copy: the same model
    plain.load_state_dict(state)
    plain, grouped = plain.to(words.device), grouped.to(words.device)
    torch.testing.assert_close(grouped(words, 4)[0], plain(words, 4)[0], rtol=1e-5, atol=1e-5)


def test_bias_is_that_of_feed_forward_and_norms_and_no_projection_of_attention_has_one():
    names = {bias: [name for name, _ in small(bias=bias).named_parameters()] for bias in (False, True)}
    assert not [name for name in names[False] if name.endswith(".bias")]
    assert all("feed_forward" in name or "norm" in name for name in names[True] if name.endswith(".bias"))
    assert len(names[True]) > len(names[False])


def test_a_mask_per_sentence_holds_for_all_heads_where_there_are_as_many(draw, device, dtype, close):
    attention, at = small().to(device, dtype).blocks.layers[0].self_attention, torch.arange(3, device=device)
    x, mask = draw(H, 3, D), (torch.ones(H, 3, 3) > 0).tril().to(device)
    mask[0, :, 0] = mask[0, 0] = False
    _, weights = attention.attend(x, attention.project(x, x, at), mask, at, at)
    close(weights, weights * mask[:, None])
    assert weights[1].count_nonzero() == 6 * H
