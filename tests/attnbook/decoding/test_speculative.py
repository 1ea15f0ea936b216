"""Speculative decoding: the rule keeps the distribution, and greedy text stays the same word by word."""

import math

import pytest
import torch

from attnbook.decoding import greedy
from attnbook.decoding.speculative import Guess, ModelDraft, lookup_draft, prompt_lookup, speculate, speculative_accept
from attnbook.measure.chance import chi_squared_p
from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import load
from attnbook.models.pretrained.fetching import kept
from attnbook.models.pretrained.writing import as_chat
from attnbook.seeding import generator

V, DRAWS = 4, 2000


def rows(count: int, seed: int) -> torch.Tensor:
    return torch.randn(count, V, generator=generator(seed)).mul(1.5).softmax(dim=-1)


# ---- the rule


@pytest.mark.parametrize("seed", range(3))
def test_two_words_have_the_models_joint_distribution_whatever_the_draft(seed):
    """One guess: the first word, and the one after it where the guess stayed; else one more is drawn from the model."""
    first, second, draft, random = rows(1, seed)[0], rows(V, 10 + seed), rows(1, 20 + seed), generator(seed)
    counts = torch.zeros(V, V)
    for _ in range(DRAWS):
        guessed = draft[0].multinomial(1, generator=random)
        model = torch.stack([first, second[int(guessed)]])
        stay, word = speculative_accept(guessed, draft, model, random)
        pair = (int(guessed), word) if stay else (word, int(second[word].multinomial(1, generator=random)))
        counts[pair] += 1
    assert chi_squared_p(counts.flatten(), (first[:, None] * second).flatten()) > 0.001


def test_the_test_above_would_see_a_rule_that_always_accepts():
    first, draft, random = rows(1, 0)[0], rows(1, 20), generator(0)
    counts = draft[0].multinomial(DRAWS, replacement=True, generator=random).bincount(minlength=V)
    assert chi_squared_p(counts, first) < 1e-6


def test_a_guess_stays_as_often_as_the_two_distributions_overlap():
    model, draft, random = rows(2, 1), rows(1, 2), generator(3)
    stayed = sum(
        speculative_accept(draft[0].multinomial(1, generator=random), draft, model, random)[0] for _ in range(DRAWS)
    )
    overlap = torch.minimum(model[0], draft[0]).sum().item()
    assert stayed / DRAWS == pytest.approx(overlap, abs=4 * math.sqrt(overlap * (1 - overlap) / DRAWS))


def test_a_draft_that_is_the_model_is_never_refused_and_one_that_is_sure_of_the_wrong_word_always():
    chances = rows(4, 0)
    guessed = chances[:3].multinomial(1, generator=generator(1))[:, 0]
    assert speculative_accept(guessed, chances[:3], chances)[0] == 3
    model, draft = torch.eye(V)[[1, 2, 3]], torch.eye(V)[[1, 0]]
    assert speculative_accept(torch.tensor([1, 0]), draft, model) == (1, 2)
    assert speculative_accept(torch.tensor([], dtype=torch.long), torch.zeros(0, V), torch.eye(V)[[3]]) == (0, 3)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"for 2 guesses draft must be \(2, V\) and model \(3, V\), got \(2, 4\) and"):
        speculative_accept(torch.tensor([0, 1]), rows(2, 0), rows(2, 0))


# ---- drafts


def test_a_text_goes_on_as_after_the_last_time_its_words_were_there():
    words = torch.tensor([1, 2, 3, 4, 9, 2, 3, 5, 6, 2, 3])
    assert prompt_lookup(words, most=4).tolist() == [5, 6, 2, 3]  # after "2 3", the later of both
    assert prompt_lookup(words[:-2], most=2).tolist() == []  # 6 is new
    assert prompt_lookup(torch.tensor([1, 2, 3, 7, 8, 3, 9, 1, 2, 3]), most=2).tolist() == [7, 8]  # three words of it
    assert prompt_lookup(torch.tensor([4, 4]), most=3).tolist() == [4]
    assert prompt_lookup(torch.tensor([4]), most=3).tolist() == []


def test_nothing_to_guess_is_refused():
    with pytest.raises(ValueError, match="most and size must be at least 1, got 0 and 3"):
        prompt_lookup(torch.tensor([1]), most=0)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return LanguageModel(12, TransformerConfig(d_model=16, heads=2, layers=2)).eval()


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(1)
    return LanguageModel(12, TransformerConfig(d_model=8, heads=1, layers=1)).eval()


PROMPT = torch.tensor([3, 4, 5, 3, 4])


def never(words: torch.Tensor) -> Guess:
    return Guess(words[:0], torch.zeros(0, 12))


@pytest.mark.parametrize("length", [1, 2, 7, 40])
def test_greedy_text_is_the_same_with_every_draft(model, small, length):
    wanted = greedy(model, prompt=PROMPT[None], max_length=length, eos=-1).tokens[0]
    drafts = [lookup_draft(12), lookup_draft(12, most=1), ModelDraft(small), ModelDraft(model), never]
    readings = []
    for draft in drafts:
        with torch.no_grad():
            words, count = speculate(model, PROMPT, draft, max_length=length)
        assert words.tolist() == wanted.tolist()
        readings.append(count)
    assert readings[-1] == length  # without guesses, a reading per word
    assert readings[3] == math.ceil(length / 6)  # a draft that is the model: five guesses and one more each time


def test_the_text_ends_where_greedy_ends_and_holds_its_end(model):
    wanted = greedy(model, prompt=PROMPT[None], max_length=30, eos=-1).tokens[0].tolist()
    end = wanted[4]
    with torch.no_grad():
        words, _ = speculate(model, PROMPT, ModelDraft(model), max_length=30, ends=(end,))
    assert words.tolist() == wanted[: wanted.index(end) + 1]


@pytest.mark.slow
def test_what_is_drawn_has_the_models_distribution(model, small):
    """Two words of a whole text, whose probabilities the model itself says."""
    random, draws = generator(0), 300
    with torch.no_grad():
        first = model(PROMPT[None])[0][0, -1].softmax(dim=-1)
        texts = torch.cat([PROMPT.expand(12, -1), torch.arange(12)[:, None]], dim=1)
        second = model(texts)[0][:, -1].softmax(dim=-1)  # (12, 12)
        counts = torch.zeros(12, 12)
        for _ in range(draws):
            draft = ModelDraft(small, most=2, temperature=1.0, generator=random)
            words, _ = speculate(model, PROMPT, draft, max_length=2, temperature=1.0, generator=random)
            counts[tuple(words.tolist())] += 1
    wanted = (first[:, None] * second).flatten()
    often = wanted * draws >= 5  # the test needs so many; all others count as one
    pooled = [torch.cat([x[often], x[~often].sum()[None]]) for x in (counts.flatten(), wanted)]
    assert chi_squared_p(*pooled) > 0.001


def test_an_empty_prompt_and_no_room_are_refused(model):
    with pytest.raises(ValueError, match=r"prompt must have shape \(t,\) with t > 0, got \(1, 5\)"):
        speculate(model, PROMPT[None], never, max_length=3)
    with pytest.raises(ValueError, match="max_length must be at least 1, got 0"):
        speculate(model, PROMPT, never, max_length=0)


@pytest.mark.slow
@pytest.mark.skipif(kept("smollm2") is None, reason="SmolLM2 is not here: python -m attnbook.pretrained smollm2")
def test_smollm2_writes_the_same_text_in_fewer_readings():
    found = load(kept("smollm2"))
    question = (
        "Repeat: The weights come from the score of the query with each key, and a softmax makes them sum to one."
    )
    prompt = torch.tensor(found.tokenizer.encode(as_chat(question), add_special_tokens=False).ids)
    wanted = greedy(found.model, prompt=prompt[None], max_length=20, eos=-1).tokens[0]
    with torch.no_grad():
        words, readings = speculate(found.model, prompt, lookup_draft(len(found.model.output.weight)), max_length=20)
    assert words.tolist() == wanted.tolist()
    assert readings <= 10
