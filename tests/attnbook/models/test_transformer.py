"""The whole Transformer: equal to torch's and to itself word by word, and nothing comes from padding or the future."""

import math

import pytest
import torch
from small_transformers import small_transformer
from torch import nn
from torch_layers import copy_layer

from attnbook.attention import window_mask
from attnbook.data.batching import Batch
from attnbook.decoding import greedy, select
from attnbook.models.block import POSITIONS, TransformerConfig
from attnbook.models.transformer import Transformer
from attnbook.training import fit

KINDS = [{"positions": positions, "norm": norm} for positions in POSITIONS for norm in ("pre", "post")]
KINDS += [{"window": 1}, {"window": 0, "positions": "learned"}, {"tied": False}]
kinds = pytest.mark.parametrize("changes", KINDS, ids=lambda changes: "-".join(map(str, changes.values())))


def step_by_step(model, sentences):
    """Logits and weights of ``forward``, from ``start`` and ``step``."""
    state, logits, weights = model.start(*sentences[:2]), [], []
    for token in sentences.read.unbind(dim=1):
        step_logits, state, step_weights = model.step(token, state)
        logits.append(step_logits)
        weights.append(step_weights)
    return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


def watch(embedding) -> list[torch.Tensor]:
    """What the embedding gives out from now on; each of these keeps its gradient."""
    seen = []

    def look(module, arguments, output):
        output.retain_grad()
        seen.append(output)

    embedding.register_forward_hook(look)
    return seen


# ---- what always holds


@kinds
def test_forward_equals_step_by_step(changes, sentences, device, dtype, close):
    model = small_transformer(**changes).to(device, dtype)
    for whole, stepped in zip(model(*sentences), step_by_step(model, sentences), strict=True):
        close(stepped, whole)
        assert whole.dtype == dtype
        assert whole.device.type == device.type


@kinds
def test_more_padding_and_other_sentences_change_nothing(changes, sentences, device, dtype, close):
    model = small_transformer(**changes).to(device, dtype)
    logits, weights = model(*sentences)
    wide_logits, wide_weights = model(*sentences.with_more_padding())
    close(wide_logits, logits)
    close(wide_weights[..., : weights.shape[-1]], weights)
    assert wide_weights[..., weights.shape[-1] :].eq(0).all()
    for row in range(4):
        close(model(*sentences.alone(row))[0][0], logits[row])


@kinds
def test_future_words_and_padding_have_no_gradient_at_all(changes, sentences, device):
    model = small_transformer(**changes).to(device)
    source, target = watch(model.embed_source), watch(model.embed_target)
    real = torch.arange(5, device=device) < sentences.lengths.to(device)[:, None]
    window = changes.get("window")
    for place in range(3):
        logits, _ = model(*sentences)
        (logits[:, place] * torch.linspace(-1, 2, 8, device=device)).sum().backward()
        assert torch.equal(source[-1].grad.ne(0).any(dim=-1), real)
        past = [t <= place and (window is None or place - t <= 2 * window) for t in range(3)]  # two layers
        assert target[-1].grad.ne(0).any(dim=-1).tolist() == [past] * 4


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_model_equals_torchs(norm, sentences, device, dtype, close):
    ours = small_transformer(positions="none", norm=norm, tied=False).to(device, dtype).train()
    theirs = nn.Transformer(8, 2, 2, 2, 12, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    theirs = theirs.to(device, dtype)
    for mine, yours in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for layer, other in zip(mine.layers, yours.layers, strict=True):
            copy_layer(layer, other)
        if norm == "pre":
            yours.norm.load_state_dict(mine.last_norm.state_dict())
        else:
            yours.norm = None  # torch normalises the end of a stack even where its last sublayer did
    padding = torch.arange(5, device=device) >= sentences.lengths.to(device)[:, None]
    decoded = theirs(
        ours.embed_source(sentences.source),
        ours.embed_target(sentences.read),
        tgt_mask=torch.ones(3, 3, dtype=torch.bool, device=device).triu(1),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    close(ours(*sentences)[0], ours.output(decoded))


@kinds
def test_maps_show_every_head_and_their_rows_sum_to_one(changes, sentences, device, dtype, close):
    model = small_transformer(**changes).to(device, dtype)
    maps = model.maps(*sentences)
    for kind, places in (("encoder", (5, 5)), ("decoder", (3, 3)), ("cross", (3, 5))):
        assert [tuple(layer.shape) for layer in getattr(maps, kind)] == [(4, 2, *places)] * 2
        assert not any(layer.requires_grad for layer in getattr(maps, kind))
    far = [~window_mask(length, changes.get("window", length), device) for length in (5, 3)]
    for encoder, decoder, cross in zip(*maps, strict=True):
        sums = encoder.sum(dim=-1)
        close(sums, (sums > 0.5).to(dtype))  # far behind its sentence, padding may have no neighbour to look at
        assert all(sums[b, :, :length].gt(0.5).all() for b, length in enumerate(sentences.lengths))
        for weights in (decoder, cross):
            close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
        assert decoder.triu(1).eq(0).all()
        assert encoder[..., far[0]].eq(0).all()
        assert decoder[..., far[1]].eq(0).all()
        assert all(w[b, ..., n:].eq(0).all() for w in (encoder, cross) for b, n in enumerate(sentences.lengths))
    close(maps.cross[-1].mean(dim=1), model(*sentences)[1].detach())


FUSED = [{"positions": "rotary"}, {"positions": "sinusoidal", "window": 1}, {"positions": "linear_bias"}]


@pytest.mark.parametrize("changes", FUSED, ids=str)
def test_fused_gives_the_same_logits_and_no_weights(changes, sentences, device, dtype, close):
    plain, fused = (small_transformer(**changes, fused=fused).to(device, dtype) for fused in (False, True))
    logits, nothing = fused(*sentences)
    assert nothing is None
    close(logits, plain(*sentences)[0])
    assert fused.step(sentences.read[:, 0], fused.start(*sentences[:2]))[2] is None
    assert fused.maps(*sentences) == ([None] * 2,) * 3


@pytest.mark.parametrize("words", [0, 2])
def test_sentences_taken_out_of_a_state_go_on_alike(words, sentences, device, dtype, close):
    model = small_transformer().to(device, dtype)
    state, rows = model.start(*sentences[:2]), [2, 0, 2]
    for token in sentences.read[:, :words].unbind(dim=1):
        _, state, _ = model.step(token, state)
    wanted, kept, _ = model.step(sentences.read[:, words], state)
    got, state, _ = model.step(sentences.read[rows, words], select(state, torch.tensor(rows, device=device)))
    close(got, wanted[rows])
    assert all(key.shape[:3] == value.shape[:3] == (3, 2, words + 1) for key, value in state.past)
    close(state.past[1].value, kept.past[1].value[rows])


# ---- weights


def test_tied_weights_are_one_tensor_with_gradients_from_both_uses(sentences, device, dtype, close):
    tied, untied = (small_transformer(tied=tied).to(device, dtype) for tied in (True, False))
    untied.load_state_dict(tied.state_dict() | {"output.bias": torch.zeros(8)})
    assert tied.output.weight is tied.embed_target.words.weight
    assert tied.output.bias is None
    size = [sum(parameter.numel() for parameter in model.parameters()) for model in (tied, untied)]
    assert size[1] - size[0] == 8 * 8 + 8
    for model in (tied, untied):
        model(*sentences)[0].pow(3).sum().backward()
    reading, writing = untied.embed_target.words.weight.grad, untied.output.weight.grad
    close(tied.output.weight.grad, reading + writing)
    assert reading.abs().sum() > 0
    assert writing.abs().sum() > 0


def test_matrices_start_within_xaviers_bounds_and_fill_them():
    model = Transformer(9, 8, TransformerConfig(d_model=32, d_ff=96, layers=1))
    matrices = [w for stack in (model.encoder, model.decoder) for w in stack.parameters() if w.ndim == 2]
    assert len(matrices) == 3 * 4 + 2 * 2
    for weight in matrices:
        bound = math.sqrt(6 / sum(weight.shape))
        assert 0.95 * bound < weight.abs().max() <= bound


@pytest.mark.parametrize("positions", ["none", "rotary", "linear_bias"])
def test_word_vectors_are_multiplied_by_the_root_of_their_features(positions, sentences, device):
    model = Transformer(500, 8, TransformerConfig(d_model=64, positions=positions)).to(device)
    words = model.embed_source.words.weight
    torch.testing.assert_close(model.embed_source(sentences.source), 8 * words[sentences.source])
    assert (8 * words).std().item() == pytest.approx(1, abs=0.02)


def test_dropout_works_while_training_only(sentences, device):
    model = small_transformer(dropout=0.5).to(device)
    assert torch.equal(model(*sentences)[0], model(*sentences)[0])
    model.train()
    assert not torch.equal(model(*sentences)[0], model(*sentences)[0])


# ---- what is refused


@pytest.mark.parametrize(
    "source, lengths, read, message",
    [
        ((0, 3), (0,), (0, 2), r"source must have shape \(B, Tk\) with B > 0, got \(0, 3\)"),
        ((2,), (2,), (2, 2), r"source must have shape \(B, Tk\) with B > 0, got \(2,\)"),
        ((2, 3), (3,), (2, 2), r"lengths must have shape \(2,\), one a sentence, got \(3,\)"),
        ((2, 3), (2, 1), (2, 2), r"lengths must have shape \(2,\), one a sentence, got \(2, 1\)"),
        ((2, 3), (2,), (3, 2), r"decoder_input must have shape \(2, T\) with T > 0, got \(3, 2\)"),
        ((2, 3), (2,), (2, 0), r"decoder_input must have shape \(2, T\) with T > 0, got \(2, 0\)"),
        ((2, 3), (2,), (2,), r"decoder_input must have shape \(2, T\) with T > 0, got \(2,\)"),
        ((2, 3), (2,), (2, 21), "position 20 has no vector: max_length is 20"),
        ((2, 21), (2,), (2, 2), "position 20 has no vector: max_length is 20"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(source, lengths, read, message):
    model = small_transformer(positions="learned")
    tensors = (torch.ones(shape, dtype=torch.long) for shape in (source, lengths, read))
    with pytest.raises(ValueError, match=message):
        model(*tensors)


def test_a_length_beyond_the_source_is_refused(sentences):
    with pytest.raises(ValueError, match="lengths must lie between 0 and max_length = 5, got"):
        small_transformer()(sentences.source.cpu(), sentences.lengths + 1, sentences.read.cpu())


def test_features_that_heads_cannot_share_are_refused():
    with pytest.raises(ValueError, match="dim = 8 features can't be shared equally among 3 heads"):
        Transformer(9, 8, TransformerConfig(d_model=8, heads=3))


# ---- it learns


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_it_learns_to_copy(norm):
    def copying(words: torch.Tensor) -> Batch:
        return Batch(words, torch.full_like(words[:, 0], 3), nn.functional.pad(words, (0, 1), value=2))

    def batch_at(step: int) -> Batch:
        return copying(torch.randint(3, 8, (16, 3), generator=torch.Generator().manual_seed(step)))

    config = TransformerConfig(d_model=32, heads=2, layers=1, d_ff=64, norm=norm, positions="sinusoidal")
    model = Transformer(8, 8, config)
    history = fit(model, batch_at, 200, learning_rate=5e-3, warmup=20, progress=False)
    source, lengths, target = copying(torch.cartesian_prod(*[torch.arange(3, 8)] * 3))
    written = greedy(model, source, lengths, max_length=4).tokens
    assert history.losses[-1] < 0.1 * history.losses[0]
    assert (written == target).all(dim=1).float().mean() > 0.95
