"""A language model: all at once or word by word, nothing from the future, and it learns."""

import pytest
import torch
from torch import nn

from attnbook.decoding import select
from attnbook.models.block import POSITIONS, TransformerConfig
from attnbook.models.language_model import LanguageModel
from attnruns.shared.ablation import WithoutNorm

B, T, V = 3, 5, 9
KINDS = [{"positions": positions, "norm": norm} for positions in POSITIONS for norm in ("pre", "post")]
KINDS += [{"window": 1}, {"tied": False}]
KINDS += [{"normalisation": "rms"}, {"feed_forward": "swiglu"}, {"key_value_heads": 1}, {"bias": False}]
kinds = pytest.mark.parametrize("changes", KINDS, ids=lambda changes: "-".join(map(str, changes.values())))


def small(block=None, **changes) -> LanguageModel:
    torch.manual_seed(1)
    config = TransformerConfig(**({"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12, "max_length": 20} | changes))
    model = LanguageModel(V, config, block)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.eval()


@pytest.fixture
def words(device):
    return torch.randint(3, V, (B, T), generator=torch.Generator().manual_seed(0)).to(device)


@kinds
def test_word_by_word_equals_all_at_once(changes, words, device, dtype, close):
    model = small(**changes).to(device, dtype)
    state, stepped = model.start(), []
    for token in words.unbind(dim=1):
        logits, state, _ = model.step(token, state)
        stepped.append(logits)
    logits, weights = model(words)
    close(torch.stack(stepped, dim=1), logits)
    assert logits.shape == (B, T, V)
    maps = model.maps(words)
    assert [tuple(layer.shape) for layer in maps] == [(B, 2, T, T)] * 2
    assert all(layer.triu(1).eq(0).all() for layer in maps)
    close(weights, maps[-1].mean(dim=1))


@kinds
def test_later_words_change_nothing(changes, words, device, close):
    model = small(**changes).to(device)
    other = words.clone()
    other[:, 3:] = (other[:, 3:] - 3 + 1) % (V - 3) + 3
    close(model(other)[0][:, :3], model(words)[0][:, :3])
    assert not torch.allclose(model(other)[0][:, 3:], model(words)[0][:, 3:])


def test_sentences_taken_out_of_a_state_go_on_alike(words, device, dtype, close):
    model, rows = small().to(device, dtype), torch.tensor([2, 0, 2], device=device)
    _, state, _ = model.read(words[:, :3], model.start())
    wanted, _, _ = model.step(words[:, 3], state)
    got, _, _ = model.step(words[rows, 3], select(state, rows))
    close(got, wanted[rows])


def test_fused_gives_the_same_logits_and_no_weights(words, device, dtype, close):
    plain, fused = (small(fused=fused).to(device, dtype) for fused in (False, True))
    logits, nothing = fused(words)
    close(logits, plain(words)[0])
    assert nothing is None


def test_blocks_of_another_class_can_be_asked_for():
    model = small(block=WithoutNorm)
    assert {type(layer) for layer in model.blocks.layers} == {WithoutNorm}
    assert not any(isinstance(part, nn.LayerNorm) for part in model.modules())


def test_there_is_no_cross_attention_in_it():
    assert not any("cross" in name for name, _ in small().named_modules())


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (4,)])
def test_words_without_a_batch_or_a_length_are_refused(shape):
    with pytest.raises(ValueError, match=r"words must have shape \(B, T\) with B > 0 and T > 0, got"):
        small()(torch.ones(shape, dtype=torch.long))


def test_it_learns_to_count():
    model = LanguageModel(V, TransformerConfig(d_model=32, heads=2, layers=1, d_ff=64))
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    sequence = torch.arange(3, V).repeat(3)[None]  # 3 4 5 … 8 3 4 5 …
    for _ in range(60):
        logits, _ = model(sequence[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), sequence[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.1
