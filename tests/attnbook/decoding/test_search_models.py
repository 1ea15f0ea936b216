"""Every model of the book meets the protocol of decoding: one set of sentences about start, step and select for all."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from small_transformers import small_transformer
from torch import Tensor, nn

from attnbook.attention import LocalAttention, LocationAware, WalkingCentre
from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.decoding import WithoutCache, beam, greedy, sample
from attnbook.models import (
    GNMT,
    LSTMN,
    AttentionSeq2Seq,
    LanguageModel,
    LSTMLanguageModel,
    LuongSeq2Seq,
    PlainSeq2Seq,
    PointerNetwork,
    TransformerConfig,
)

V, N, B = 5, 4, 3
SOURCE, LENGTHS = torch.tensor([[3, 4, 5, 3], [5, 0, 0, 0], [4, 4, 0, 0]]), torch.tensor([4, 1, 2])
POINTS = torch.rand(B, N, 2, generator=torch.Generator().manual_seed(0))
PROMPTS = torch.tensor([[BOS, 3, 4], [BOS, 4, 4], [BOS, 2, 3]])
SMALL = {"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12, "max_length": 20}


def language_model(**changes) -> LanguageModel:
    return LanguageModel(V, TransformerConfig(**(SMALL | changes)))


TRANSLATORS = {
    "plain": lambda: PlainSeq2Seq(6, V, 4, 6),
    "plain_lstm_first": lambda: PlainSeq2Seq(6, V, 4, 6, "lstm", "first"),
    "attention": lambda: AttentionSeq2Seq(6, V, 4, 6),
    "location_aware": lambda: AttentionSeq2Seq(6, V, 4, 6, "lstm", score=LocationAware(6, 6, 3)),
    "gnmt": lambda: GNMT(6, V, 4, 6, layers=3),
    "luong": lambda: LuongSeq2Seq(6, V, 4, 6),
    "luong_walking": lambda: LuongSeq2Seq(6, V, 4, 6, local=LocalAttention(WalkingCentre(6), 1)),
    "luong_skip": lambda: LuongSeq2Seq(6, V, 4, 6, feeding=False, placement="skip"),
    "transformer": lambda: small_transformer(6, V),
    "transformer_post_linear_bias": lambda: small_transformer(6, V, norm="post", positions="linear_bias"),
    "transformer_sinusoidal_window": lambda: small_transformer(6, V, positions="sinusoidal", window=1),
    "without_cache": lambda: small_transformer(6, V),
}
READERS = {
    "lstmn": lambda: LSTMN(V, 4, 6),
    "lstm": lambda: LSTMLanguageModel(V, 4, 6),
    "language_model": language_model,
    "language_model_learned": lambda: language_model(positions="learned", norm="post"),
    "language_model_window": lambda: language_model(window=1, positions="linear_bias"),
}
POINTERS = {
    "pointer": lambda: PointerNetwork(2, 8),
    "pointer_may_stop": lambda: PointerNetwork(2, 8, may_stop=True),
    "pointer_transformer": lambda: PointerNetwork(2, 8, encoder="transformer"),
}
NAMES = [*TRANSLATORS, *READERS, *POINTERS]


class Case:
    """A model in evaluation mode with random weights, and what its kind is asked with; rows can be taken out of it."""

    def __init__(self, name: str, device, dtype, rows: Tensor | None = None) -> None:
        torch.manual_seed(3)
        rows = torch.arange(B) if rows is None else rows
        self.name, self.points = name, name in POINTERS
        self.net: nn.Module = {**TRANSLATORS, **READERS, **POINTERS}[name]().to(device, dtype).eval()
        self.model = WithoutCache(self.net) if name == "without_cache" else self.net
        self.bos, self.eos, self.words = (N, N, N + 1) if self.points else (BOS, EOS, V)
        self.source: tuple = ()
        if name not in READERS:
            first = POINTS.to(dtype) if self.points else SOURCE
            self.source = first[rows].to(device), (torch.full((B,), N) if self.points else LENGTHS)[rows]
        self.prompt = torch.tensor([[N, 0], [N, 3], [N, 1]]) if self.points else PROMPTS
        self.prompt = self.prompt[rows].to(device)

    def asked(self, loop: Callable, **options):
        """``greedy``, ``sample`` or ``beam`` of this model from its prompts on."""
        return loop(self.model, *self.source, prompt=self.prompt, eos=self.eos, **options)

    def logits(self, words: Tensor) -> Tensor:
        """Teacher forcing: logits ``(B, T, V)`` of all words at once, which no cache has a part in."""
        return self.net(*self.source, words)[0].detach()

    def after(self, words: Tensor):
        """The state in which all of ``words (B, T)`` have been read, one by one."""
        state = self.model.start(*self.source)
        for token in words.unbind(dim=1):
            _, state, _ = self.model.step(token, state)
        return state


@pytest.fixture(params=NAMES)
def case(request, device, dtype) -> Case:
    return Case(request.param, device, dtype)


# ---- loops against the forward pass


def up_to_the_end(tokens: Tensor, eos: int) -> Tensor:
    """``(B, L)`` bool: what a sentence has written itself, its end symbol included."""
    return (tokens == eos).cumsum(dim=1) - (tokens == eos).long() == 0


def test_greedy_words_are_the_likeliest_under_teacher_forcing(case):
    tokens = case.asked(greedy, max_length=4).tokens
    read = torch.cat([case.prompt, tokens], dim=1)[:, :-1]
    likeliest = case.logits(read)[:, case.prompt.shape[1] - 1 :].argmax(dim=-1)
    real = up_to_the_end(tokens, case.eos)
    assert torch.equal(tokens[real], likeliest[real])
    assert tokens[~real].eq(case.eos).all()


def test_steps_give_the_logits_of_the_forward_pass(case, close):
    state, wanted = case.model.start(*case.source), case.logits(case.prompt)
    for t, token in enumerate(case.prompt.unbind(dim=1)):
        logits, state, _ = case.model.step(token, state)
        close(logits.detach(), wanted[:, t])


def test_a_beam_of_one_is_greedy(case):
    tokens = case.asked(greedy, max_length=4).tokens
    assert torch.equal(case.asked(beam, max_length=4, width=1).tokens[:, 0], tokens)


def everything(case: Case) -> list[list[tuple[float, tuple[int, int]]]]:
    """Each row's two-word sentences, the likeliest first, with their log-probabilities; what has ended stays so."""
    found: list = [[] for _ in range(B)]
    for first in range(case.words):
        words = torch.full((B, 1), first, device=case.prompt.device)
        logits = case.logits(torch.cat([case.prompt, words], dim=1))[:, -2:].log_softmax(dim=-1)  # (B, 2, V)
        for row in range(B):
            if first == case.eos:
                found[row].append((logits[row, 0, first].item(), (first, first)))
            else:
                both = (logits[row, 0, first] + logits[row, 1]).tolist()
                found[row] += [(total, (first, second)) for second, total in enumerate(both)]
    return [sorted(rows, reverse=True) for rows in found]


def test_a_beam_as_wide_as_the_vocabulary_finds_what_a_search_through_everything_finds(case):
    beams = case.asked(beam, max_length=2, width=case.words)
    for row, wanted in enumerate(everything(case)):
        scores = torch.tensor([score for score, _ in wanted[: case.words]])
        torch.testing.assert_close(beams.scores[row].float().cpu(), scores, rtol=1e-4, atol=1e-4)
        there = scores > float("-inf")
        pairs = [pair for (_, pair), real in zip(wanted, there, strict=False) if real]
        assert [tuple(words) for words in beams.tokens[row].tolist()][: len(pairs)] == pairs


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith(("language_model", "transformer"))])
def test_a_prompt_read_at_once_is_read_as_if_by_steps(name, device, dtype, close, monkeypatch):
    case = Case(name, device, dtype)
    at_once = case.model.prefill(case.prompt, case.model.start(*case.source))
    states_equal(at_once[1], case.after(case.prompt), close)
    last = case.model.step(case.prompt[:, -1], case.after(case.prompt[:, :-1]))
    for one, other in zip(at_once[::2], last[::2], strict=True):  # logits, and weights where there are any
        assert (one is None) == (other is None)
        states_equal((one,), (other,), close)
    twice = case.model.prefill(case.prompt[:, 1:], case.after(case.prompt[:, :1]))
    states_equal(twice[1], at_once[1], close)
    tokens = case.asked(greedy, max_length=4).tokens
    beams = case.asked(beam, max_length=4, width=3).tokens
    monkeypatch.delattr(type(case.net), "prefill")
    assert torch.equal(case.asked(greedy, max_length=4).tokens, tokens)
    assert torch.equal(case.asked(beam, max_length=4, width=3).tokens, beams)


# ---- select


def states_equal(one, other, close) -> None:
    """Tensor by tensor, at any depth."""
    if isinstance(one, Tensor):
        close(one, other)
    elif isinstance(one, tuple):
        assert type(one) is type(other)
        for a, b in zip(one, other, strict=True):
            states_equal(a, b, close)
    else:
        assert one == other


def test_selecting_twice_is_selecting_once_what_both_select(case, close):
    state, select = case.after(case.prompt), case.model.select
    first, second = (torch.tensor(rows, device=case.prompt.device) for rows in ([2, 0, 0, 1], [3, 1, 1]))
    states_equal(select(select(state, first), second), select(state, first[second]), close)


def test_selecting_all_rows_in_their_order_changes_nothing(case, close):
    state = case.after(case.prompt)
    states_equal(case.model.select(state, torch.arange(B, device=case.prompt.device)), state, close)


def test_selected_sentences_go_on_as_they_would_have(case, close):
    state, rows = case.after(case.prompt[:, :-1]), torch.tensor([2, 0, 0], device=case.prompt.device)
    wanted, after, _ = case.model.step(case.prompt[:, -1], state)
    got, selected, _ = case.model.step(case.prompt[rows, -1], case.model.select(state, rows))
    close(got.detach(), wanted[rows].detach())
    states_equal(selected, case.model.select(after, rows), close)


def test_before_the_first_word_sentences_can_be_selected_too(case, close):
    rows = torch.tensor([1, 1], device=case.prompt.device)
    state = case.model.select(case.model.start(*case.source), rows)
    got, _, _ = case.model.step(case.prompt[rows, 0], state)
    close(got.detach(), case.logits(case.prompt[:, :1])[rows, 0])


def test_a_step_leaves_the_state_that_it_was_given_as_it_is(case, close):
    state = case.after(case.prompt[:, :-1])
    copied = case.model.select(state, torch.arange(B, device=case.prompt.device))
    once, _, _ = case.model.step(case.prompt[:, -1], state)
    states_equal(state, copied, close)
    close(case.model.step(case.prompt[:, -1], state)[0], once)


# ---- rows


@pytest.mark.parametrize("loop", [greedy, partial(beam, width=3)], ids=["greedy", "beam"])
@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_influence_each_other(name, loop, device, float64):
    whole = Case(name, device, float64).asked(loop, max_length=4).tokens
    for row in range(B):
        case = Case(name, device, float64, torch.tensor([row]))
        alone = case.asked(loop, max_length=4).tokens
        assert torch.equal(whole[row, ..., : alone.shape[-1]], alone[0])
        assert whole[row, ..., alone.shape[-1] :].eq(case.eos).all()


# ---- prompts


def test_a_prompt_of_the_start_symbol_is_what_is_read_without_one():
    case = Case("attention", torch.device("cpu"), torch.float32)
    begin = torch.full((B, 1), BOS)
    for loop in (greedy, beam):
        wanted = loop(case.model, *case.source, max_length=4)
        assert torch.equal(loop(case.model, *case.source, max_length=4, prompt=begin).tokens, wanted.tokens)


@pytest.mark.parametrize("name", NAMES)
def test_going_on_from_what_was_written_writes_the_rest(name, device, float64):
    case = Case(name, device, float64)
    case.eos = -1  # nothing ends
    whole = case.asked(greedy, max_length=4).tokens
    case.prompt = torch.cat([case.prompt, whole[:, :1]], dim=1)
    assert torch.equal(case.asked(greedy, max_length=3).tokens, whole[:, 1:])


@pytest.mark.parametrize("name", READERS)
def test_a_language_model_writes_what_it_draws_and_repeats_it_for_a_seed(name, device, dtype):
    case = Case(name, device, dtype)

    def draws(seed: int, **options) -> Tensor:
        chance = torch.Generator(device).manual_seed(seed)
        return case.asked(sample, max_length=6, generator=chance, **options).tokens

    assert torch.equal(draws(1), draws(1))
    assert not all(torch.equal(draws(1), draws(seed)) for seed in (2, 3, 4))
    assert torch.equal(draws(1, top_k=1), case.asked(greedy, max_length=6).tokens)


def test_a_reader_that_looks_at_its_own_past_has_a_place_more_at_each_step(device, dtype, close):
    case = Case("lstmn", device, dtype)
    tokens, weights = greedy(case.model, prompt=case.prompt, max_length=4, eos=-1)
    read = torch.cat([case.prompt, tokens], dim=1)[:, :-1]
    wanted = case.net(read)[1][:, 2:, :-1]  # from the prompt's last word on; no word looks at itself
    assert weights.shape == (B, 4, 5)
    close(weights, wanted.detach())


@pytest.mark.parametrize("loop", [greedy, sample, beam])
def test_with_neither_source_nor_prompt_nothing_can_be_written(loop):
    with pytest.raises(ValueError, match=r"without a source there must be a prompt, \(B, t\)"):
        loop(language_model(), max_length=3)


@pytest.mark.parametrize("shape", [(3, 0), (0, 2), (3,), (2, 1)])
def test_a_prompt_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"prompt must have shape \(3, t\) with B, t > 0, got \("):
        greedy(PlainSeq2Seq(6, V, 4, 6), SOURCE, LENGTHS, max_length=3, prompt=torch.ones(shape).long())


def test_a_prompt_without_a_source_needs_words_too():
    with pytest.raises(ValueError, match=r"prompt must have shape \(B, t\) with B, t > 0, got \(2, 0\)"):
        greedy(language_model(), max_length=3, prompt=torch.ones(2, 0).long())
