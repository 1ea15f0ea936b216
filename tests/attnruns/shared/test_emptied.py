import pytest
import torch

from attnbook.models import MaskedLanguageModel
from attnbook.models.block import TransformerConfig
from attnbook.seeding import seed_everything
from attnruns.shared.emptied import SENTENCES, alike, in_heads, read

CONFIG = TransformerConfig(layers=2, d_model=8, heads=2, d_ff=16, norm="post", positions="learned")  # as BERT
IDS = torch.tensor([[1, 5, 6, 7, 2]])


@pytest.fixture
def model():
    seed_everything(0)
    return MaskedLanguageModel(12, CONFIG).eval()


def test_all_heads_have_scores_whose_softmax_is_the_models_own(model):
    scores, lengths = in_heads(model, IDS)
    assert (scores.shape, lengths.shape) == ((4, 5, 5), (4, 5))
    maps = torch.cat([weights[0] for weights in model.maps(IDS, torch.tensor([5]))])
    assert torch.allclose(scores.softmax(dim=-1), maps, atol=1e-6)


def test_unchanged_it_reads_as_the_model_does(model):
    assert torch.allclose(read(model, IDS), model.encode(IDS, torch.tensor([5]))[0], atol=1e-6)


def test_without_its_key_a_token_at_the_end_is_padding(model):
    token = torch.tensor([[False] * 4 + [True]])
    hidden = read(model, IDS, "key", token)[:, :4]
    assert torch.allclose(hidden, model.encode(IDS[:, :4], torch.tensor([4]))[0], atol=1e-5)


def test_without_its_value_a_token_changes_the_others_and_the_model_stays_as_it_was(model):
    token = torch.tensor([[True] + [False] * 4])
    whole = read(model, IDS)
    assert not torch.allclose(read(model, IDS, "value", token)[:, 1:], whole[:, 1:], atol=1e-3)
    assert torch.allclose(read(model, IDS), whole, atol=1e-6), "hooks are removed"


def test_alike_is_one_per_token_and_one_where_nothing_is_lost(model):
    assert alike(model, IDS, "key").shape == (5,)
    with torch.no_grad():
        for block in model.blocks.layers:
            block.self_attention.project_value.weight.zero_()
            block.self_attention.project_value.bias.zero_()
    assert torch.allclose(alike(model, IDS, "value"), torch.ones(5), atol=1e-6)


def test_sentences_differ():
    assert len(set(SENTENCES)) == 12


@pytest.mark.parametrize(("without", "token"), [("keys", IDS > 5), ("value", None)])
def test_what_cannot_be_taken_away_is_refused(model, without, token):
    with pytest.raises(ValueError, match="without = "):
        read(model, IDS, without, token)
