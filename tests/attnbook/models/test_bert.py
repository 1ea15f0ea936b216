"""The masked language model: both directions, no padding, torch's own encoder; and what stands on top of it."""

import pytest
import torch
from torch import nn
from torch_layers import copy_layer

from attnbook.data.batching import Batch
from attnbook.models.bert import MaskedLanguageModel, SentenceClassifier
from attnbook.models.block import POSITIONS, TransformerConfig
from attnbook.training import masked_language_model_loss

B, T, V, D = 3, 6, 11, 8
LENGTHS = [6, 2, 4]


def small(**changes) -> MaskedLanguageModel:
    torch.manual_seed(1)
    config = TransformerConfig(**({"d_model": D, "heads": 2, "layers": 2, "d_ff": 12, "max_length": 20} | changes))
    model = MaskedLanguageModel(V, config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()


@pytest.fixture
def lengths(device):
    return torch.tensor(LENGTHS, device=device)


@pytest.fixture
def words(device, lengths):
    drawn = torch.randint(3, V, (B, T), generator=torch.Generator().manual_seed(0)).to(device)
    return drawn * (torch.arange(T, device=device) < lengths[:, None])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_it_equals_torchs_encoder(norm, words, lengths, device, float64):
    model = small(positions="none", norm=norm).to(device, float64)
    layer = nn.TransformerEncoderLayer(D, 2, 12, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(device, float64)
    for ours, theirs in zip(model.blocks.layers, stack.layers, strict=True):
        copy_layer(ours, theirs)
    x = stack(model.embed(words), src_key_padding_mask=words == 0)
    real = (words != 0)[..., None]
    torch.testing.assert_close(model.encode(words, lengths)[0] * real, model.blocks.last_norm(x) * real)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_word_is_read_with_those_on_both_sides_and_never_with_padding(positions, words, lengths, device, float64):
    model = small(positions=positions).to(device, float64)
    logits, weights = model(words, lengths)
    assert logits.shape == (B, T, V)
    maps = model.maps(words, lengths)
    assert [tuple(layer.shape) for layer in maps] == [(B, 2, T, T)] * 2
    torch.testing.assert_close(weights, maps[-1].mean(dim=1))
    for other in (0, 3):  # a word before and a word after the second of the third sentence
        changed = words.clone()
        changed[2, other] = (words[2, other] - 2) % (V - 3) + 3
        assert not torch.allclose(model(changed, lengths)[0][2, 1], logits[2, 1])
    padded = words.clone()
    padded[1, 2:] = 5
    torch.testing.assert_close(model(padded, lengths)[0][1, :2], logits[1, :2])
    assert all(layer[1, :, :, 2:].eq(0).all() for layer in maps)


def test_the_width_of_the_padding_changes_nothing(words, lengths, device, float64):
    model = small().to(device, float64)
    alone, _ = model(words[2:, :4], lengths[2:])
    torch.testing.assert_close(model(words, lengths)[0][2:, :4], alone)


def test_fused_gives_the_same_logits_and_no_weights(words, lengths, device, dtype, close):
    plain, fused = (small(fused=fused).to(device, dtype) for fused in (False, True))
    logits, nothing = fused(words, lengths)
    real = (words != 0)[..., None]
    close(logits * real, plain(words, lengths)[0] * real)
    assert nothing is None


def test_one_length_per_sentence_is_asked_for(words, lengths):
    with pytest.raises(ValueError, match=r"lengths must have shape \(3,\)"):
        small()(words, lengths[:2])


def test_it_learns_a_word_that_only_the_next_one_tells():
    torch.manual_seed(0)
    model, mask = MaskedLanguageModel(V + 1, TransformerConfig(d_model=32, heads=2, layers=1, d_ff=64)), V
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    words = torch.arange(3, V - 1)[:, None] + torch.tensor([0, 1])  # a word, then the one after it in the list
    hidden, target = words.clone(), torch.zeros_like(words)
    hidden[:, 0], target[:, 0] = mask, words[:, 0]
    batch = Batch(hidden, torch.full((len(words),), 2), target)
    for _ in range(60):
        loss = masked_language_model_loss(model, batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.1


# ---- the classifier


@pytest.mark.parametrize("summary", ["mean", "first"])
def test_a_sentence_is_summarised_from_its_own_words(summary, words, lengths, device, float64):
    classifier = SentenceClassifier(small(), 3, summary).to(device, float64)
    found = classifier.summarise(words, lengths)
    for row, length in enumerate(LENGTHS):
        x, _ = classifier.encoder.encode(words[row : row + 1, :length], lengths[row : row + 1])
        torch.testing.assert_close(found[row], x[0].mean(dim=0) if summary == "mean" else x[0, 0])
    torch.testing.assert_close(classifier(words, lengths), classifier.output(found))
    assert classifier(words, lengths).shape == (B, 3)


def test_a_classifier_leaves_the_encoder_that_it_was_given_as_it_was(words, lengths):
    encoder = small()
    classifier = SentenceClassifier(encoder, 2)
    for parameter in classifier.parameters():
        nn.init.zeros_(parameter)
    assert all(not parameter.eq(0).all() for parameter in encoder.parameters())


def test_a_frozen_encoder_gets_no_gradient_and_a_free_one_gets_it(words, lengths, device):
    for frozen in (False, True):
        classifier = SentenceClassifier(small(), 2, frozen=frozen).to(device)
        classifier(words, lengths).sum().backward()
        gradients = {name for name, parameter in classifier.named_parameters() if parameter.grad is not None}
        assert {"output.weight", "output.bias"} <= gradients
        assert any(name.startswith("encoder") for name in gradients) is not frozen


def test_another_summary_or_a_single_class_is_refused():
    with pytest.raises(ValueError, match="summary must be one of mean, first, got 'last'"):
        SentenceClassifier(small(), 2, "last")
    with pytest.raises(ValueError, match="classes must be at least 2, got 1"):
        SentenceClassifier(small(), 1)


@pytest.mark.parametrize("summary", ["mean", "first"])
def test_a_sentence_of_no_words_has_a_summary_of_zeros_and_spoils_no_other(summary, words, device):
    classifier = SentenceClassifier(small(), 3, summary).to(device)
    found = classifier.summarise(words[:2], torch.tensor([4, 0], device=device))
    assert (found[1] == 0).all()
    torch.testing.assert_close(found[:1], classifier.summarise(words[:1], torch.tensor([4], device=device)))
    nn.functional.cross_entropy(classifier(words[:2], torch.tensor([4, 0], device=device)), words[:2, 0] % 3).backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in classifier.parameters())
