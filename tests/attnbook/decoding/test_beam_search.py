"""Beam search against a search through everything, against one written with lists, and as a part of both models."""

import math
from functools import partial
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_transformers import small_transformer

from attnbook.attention import LocationAware
from attnbook.decoding import WithoutCache, beam, greedy, select
from attnbook.models import GNMT, AttentionSeq2Seq, PlainSeq2Seq

BOS, EOS, V, L = 1, 2, 4, 4
EVERYTHING = 1 + 3 + 9 + 27 + 81  # sentences of one, two and three words that end, and all beginnings of four
seeds, alphas = st.integers(0, 999), st.sampled_from([0.0, 0.6, 1.0])


class Table:
    """A random language: what comes next depends on the sentence and on every word before."""

    def __init__(self, seed: int = 0, sentences: int = 2) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.logits = 2 * torch.randn(sentences, 2 * V**L, V, generator=generator, dtype=torch.float64)

    def start(self, source, lengths):
        return source[:, 0], (torch.zeros_like(lengths), "kept")

    def step(self, token, state):
        sentence, (code, word) = state
        code = code * V + token  # the words before in base V; the start symbol is 1, so no two codes are alike
        return self.logits[sentence, code], (sentence, (code, word)), None

    select = staticmethod(select)

    def search(self, width: int = EVERYTHING, alpha: float = 0.0, max_length: int = L, **options):
        numbers = torch.arange(len(self.logits))
        return beam(self, numbers[:, None], numbers, max_length=max_length, width=width, alpha=alpha, **options)

    def after(self, sentence: int, words: tuple[int, ...]) -> list[float]:
        """Log-probabilities of the word after these."""
        code = BOS
        for word in words:
            code = code * V + word
        return self.logits[sentence, code].log_softmax(dim=-1).tolist()


def rank(beginning, alpha):
    words, total = beginning
    return total / ((5 + len(words)) / 6) ** alpha


def slow_beam(table, sentence, width, alpha, max_length=L):
    """Beginnings as lists: (words, log-probability), the best first."""
    beginnings = [((), 0.0)]
    for _ in range(max_length):
        longer = []
        for words, total in beginnings:
            if words and words[-1] == EOS:
                longer.append((words, total))
            else:
                longer += [((*words, w), total + p) for w, p in enumerate(table.after(sentence, words))]
        beginnings = sorted(longer, key=lambda beginning: -rank(beginning, alpha))[:width]
    return beginnings


def everything(table, sentence, words=(), total=0.0):
    """Each sentence that ends and each beginning as long as is allowed, with its log-probability."""
    if len(words) == L or words[-1:] == (EOS,):
        return [(words, total)]
    longer = enumerate(table.after(sentence, words))
    return [one for w, p in longer for one in everything(table, sentence, (*words, w), total + p)]


def same(beams, sentence, wanted, alpha):
    length = beams.tokens.shape[2]
    assert beams.tokens[sentence].tolist() == [[*words, *[EOS] * (length - len(words))] for words, _ in wanted]
    ranks = torch.tensor([rank(beginning, alpha) for beginning in wanted], dtype=torch.float64)
    torch.testing.assert_close(beams.scores[sentence], ranks)


# ---- against slow searches


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_full_width_finds_every_sentence_in_order(seed, alpha):
    table = Table(seed)
    beams = table.search(alpha=alpha)
    for sentence in range(2):
        wanted = sorted(everything(table, sentence), key=lambda one: -rank(one, alpha))
        assert len(wanted) == EVERYTHING
        same(beams, sentence, wanted, alpha)


@given(seeds, st.integers(1, 7), alphas, st.integers(1, L))
def test_a_narrow_beam_equals_a_loop_over_lists(seed, width, alpha, max_length):
    table = Table(seed)
    beams = table.search(width, alpha, max_length)
    for sentence in range(2):
        wanted = slow_beam(table, sentence, width, alpha, max_length)
        there = len(wanted)  # in one step there are only V beginnings
        same(type(beams)(beams.tokens[:, :there], beams.scores[:, :there]), sentence, wanted, alpha)
        assert beams.scores[sentence, there:].eq(float("-inf")).all()


@given(seeds, st.integers(1, 9), alphas)
def test_beams_are_sorted_and_no_two_are_alike(seed, width, alpha):
    beams = Table(seed).search(width, alpha)
    for tokens, scores in zip(beams.tokens.tolist(), beams.scores.tolist(), strict=True):
        assert all(better >= worse for better, worse in pairwise(scores))
        assert len({tuple(words) for words in tokens}) == width


@given(seeds, alphas)
def test_a_beam_of_one_is_greedy(seed, alpha):
    table, numbers = Table(seed), torch.arange(2)
    tokens, _ = greedy(table, numbers[:, None], numbers, max_length=L)
    assert torch.equal(table.search(1, alpha).tokens[:, 0], tokens)


def test_an_ended_sentence_keeps_its_score_while_others_grow():
    table = Table()
    table.logits[:] = torch.tensor([0.0, 0.1, -9.0, 0.2])
    table.logits[:, BOS, EOS] = 5.0
    scores = [table.search(3, alpha=1.0, max_length=length) for length in (1, 2, 3, 4)]
    ends = torch.tensor(table.after(0, ())[EOS], dtype=torch.float64)  # one word: the penalty is 1
    for beams in scores:
        assert beams.tokens[0, 0].eq(EOS).all()
        torch.testing.assert_close(beams.scores[0, 0], ends)


def test_the_search_stops_when_all_beams_have_ended():
    table = Table()
    table.logits[:] = torch.tensor([-9.0, -9.0, 9.0, 0.0])
    assert table.search(2, max_length=L).tokens.tolist() == [[[EOS, EOS], [3, EOS]]] * 2


def test_start_and_end_symbols_may_be_others():
    table = Table()
    table.logits[:] = torch.tensor([0.0, 1.0, 2.0, 9.0])
    assert table.search(1, eos=3).tokens.tolist() == [[[3]]] * 2


def test_a_penalty_makes_longer_sentences_win():
    table = Table()
    table.logits[:] = torch.tensor([-30.0, -30.0, 0.1, 0.0])  # to end is a little likelier each time
    written = [table.search(alpha=alpha).tokens[0, 0].tolist() for alpha in (0.0, 5.0)]
    assert written == [[EOS] * 4, [3, 3, 3, EOS]]


# ---- coverage


class Reader(Table):
    """A random language that attends: to which of three source words depends on every word before, too.

    Of the last sentence only two words are real.
    """

    LENGTHS = torch.tensor([3, 2])

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        generator = torch.Generator().manual_seed(seed + 1)
        scores = 3 * torch.randn(*self.logits.shape[:2], 3, generator=generator, dtype=torch.float64)
        real = torch.arange(3) < self.LENGTHS[:, None]  # (B, Tk)
        self.weights = scores.masked_fill(~real[:, None], float("-inf")).softmax(dim=-1)

    def step(self, token, state):
        logits, state, _ = super().step(token, state)
        return logits, state, self.weights[state[0], state[1][0]]

    def search(self, width: int = EVERYTHING, alpha: float = 0.0, beta: float = 0.0, max_length: int = L):
        source = torch.arange(2)[:, None].expand(-1, 3)
        return beam(self, source, self.LENGTHS, max_length=max_length, width=width, alpha=alpha, beta=beta)

    def rank(self, sentence: int, beginning: tuple[tuple[int, ...], float], alpha: float, beta: float) -> float:
        """Equation 14 of the paper, written with loops."""
        words, _ = beginning
        code, coverage = BOS, [0.0] * int(self.LENGTHS[sentence])
        for word in words:
            coverage = [c + w for c, w in zip(coverage, self.weights[sentence, code].tolist(), strict=False)]
            code = code * V + word
        return rank(beginning, alpha) + beta * sum(math.log(min(c, 1.0)) for c in coverage)


@pytest.mark.parametrize("alpha, beta", [(0.0, 0.2), (0.6, 0.2), (0.0, 2.0), (1.0, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_full_width_finds_every_sentence_in_the_order_of_both_penalties(seed, alpha, beta):
    table = Reader(seed)
    beams = table.search(alpha=alpha, beta=beta)
    for sentence in range(2):
        ranks = {
            words: table.rank(sentence, (words, total), alpha, beta) for words, total in everything(table, sentence)
        }
        wanted = sorted(ranks, key=lambda words: -ranks[words])
        length = beams.tokens.shape[2]
        assert beams.tokens[sentence].tolist() == [[*words, *[EOS] * (length - len(words))] for words in wanted]
        got = torch.tensor([ranks[words] for words in wanted], dtype=torch.float64)
        torch.testing.assert_close(beams.scores[sentence], got)


@given(seeds, st.integers(1, 7), alphas)
def test_without_beta_attention_changes_nothing(seed, width, alpha):
    with_attention, without = Reader(seed).search(width, alpha), Table(seed).search(width, alpha)
    assert torch.equal(with_attention.tokens, without.tokens)
    assert torch.equal(with_attention.scores, without.scores)


def test_coverage_makes_a_less_likely_sentence_that_attends_to_every_word_win():
    table = Reader()
    table.logits[:] = torch.tensor([-30.0, -30.0, 0.1, 0.0])  # to end is a little likelier each time
    table.weights[:] = torch.tensor([1.0, 0.0, 0.0])
    table.weights[:, BOS * V + 3] = torch.tensor([0.0, 1.0, 0.0])  # the second word attends to the second source word
    short, covered = (table.search(width=3, beta=beta).tokens[1, 0].tolist() for beta in (0.0, 0.2))
    assert short[0] == EOS
    assert covered[:2] == [3, EOS]


class Sourceless(Table):
    """A language model: it starts from nothing."""

    def start(self):
        return torch.arange(2), (torch.zeros(2, dtype=torch.long), "kept")


def test_beta_needs_attention_and_a_source_with_lengths():
    numbers = torch.arange(2)
    with pytest.raises(ValueError, match="beta needs attention weights, and this model has none"):
        beam(Table(), numbers[:, None], torch.ones_like(numbers), max_length=2, beta=0.2)
    with pytest.raises(ValueError, match="beta needs a source and its lengths"):
        beam(Sourceless(), max_length=2, beta=0.2, prompt=numbers[:, None])


@pytest.mark.parametrize("options", [{"width": 0}, {"width": -2}, {"max_length": 0}])
def test_a_width_or_length_below_one_is_refused(options):
    (name, value), *_ = options.items()
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got {value}"):
        Table().search(**options)


# ---- with models


MODELS = {
    "plain": lambda: PlainSeq2Seq(6, 5, 4, 6),
    "plain_lstm": lambda: PlainSeq2Seq(6, 5, 4, 6, "lstm"),
    "attention": lambda: AttentionSeq2Seq(6, 5, 4, 6),
    "location_aware": lambda: AttentionSeq2Seq(6, 5, 4, 6, "lstm", score=LocationAware(6, 6, 3)),
    "gnmt": lambda: GNMT(6, 5, 4, 6, layers=3),
    "transformer": lambda: small_transformer(6, 5),
    "transformer_sinusoidal_window": lambda: small_transformer(6, 5, positions="sinusoidal", window=1),
    "transformer_fused": lambda: small_transformer(6, 5, fused=True),
    "transformer_without_cache": lambda: small_transformer(6, 5),
}
SOURCE, LENGTHS = torch.tensor([[3, 4, 5, 3], [5, 0, 0, 0], [4, 4, 0, 0]]), torch.tensor([4, 1, 2])


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture
def model(name, device, dtype):
    return MODELS[name]().to(device, dtype)


@pytest.fixture
def writer(model, name):
    """What is given to the decoder: the model, or what stands around it."""
    return WithoutCache(model) if name == "transformer_without_cache" else model


@pytest.mark.parametrize("alpha", [0.0, 0.8])
def test_scores_are_log_probabilities_under_the_model(model, writer, device, close, alpha):
    tokens, scores = beam(writer, SOURCE.to(device), LENGTHS, max_length=5, width=3, alpha=alpha)
    assert tokens.shape[:2] == scores.shape == (3, 3)
    assert not scores.requires_grad
    for w in range(3):
        read = torch.cat([torch.full_like(tokens[:, w, :1], BOS), tokens[:, w, :-1]], dim=1)
        words = model(SOURCE.to(device), LENGTHS, read)[0].log_softmax(dim=-1)
        words = words.gather(-1, tokens[:, w, :, None])[..., 0]  # (B, L)
        counts = (tokens[:, w] == EOS).cumsum(dim=1) - (tokens[:, w] == EOS).long() == 0  # up to the first end
        close(scores[:, w], ((words * counts).sum(dim=1) / ((5 + counts.sum(dim=1)) / 6) ** alpha).detach())


def test_a_batch_is_searched_as_one_sentence_at_a_time(writer, device, close):
    tokens, scores = beam(writer, SOURCE.to(device), LENGTHS, max_length=5, width=3, alpha=0.6)
    for row, length in enumerate(LENGTHS.tolist()):
        one = SOURCE[row, None, :length].to(device), LENGTHS[row, None]
        alone = beam(writer, *one, max_length=5, width=3, alpha=0.6)
        longest = alone.tokens.shape[2]
        assert torch.equal(tokens[row, :, :longest], alone.tokens[0])
        assert tokens[row, :, longest:].eq(EOS).all()
        close(scores[row], alone.scores[0])


@pytest.mark.parametrize("name", ["attention", "gnmt", "transformer"], indirect=True)
def test_coverage_is_that_of_the_weights_under_teacher_forcing(model, device, close):
    arguments = SOURCE.to(device), LENGTHS
    tokens, scores = beam(model, *arguments, max_length=5, width=3, alpha=0.6, beta=0.2)
    real = torch.arange(4, device=device) < LENGTHS.to(device)[:, None]  # (B, Tk)
    for w in range(3):
        read = torch.cat([torch.full_like(tokens[:, w, :1], BOS), tokens[:, w, :-1]], dim=1)
        logits, weights = model(*arguments, read)
        if logits.shape[:2] != weights.shape[:2]:  # a Transformer's are by layer and head
            weights = model.mean_cross_weights(weights)
        counts = (tokens[:, w] == EOS).cumsum(dim=1) - (tokens[:, w] == EOS).long() == 0  # (B, L), up to the first end
        words = logits.log_softmax(dim=-1).gather(-1, tokens[:, w, :, None])[..., 0]
        lp = ((5 + counts.sum(dim=1)) / 6) ** 0.6
        covered = (weights * counts[..., None]).sum(dim=1).clamp(max=1).log().masked_fill(~real, 0).sum(dim=1)
        close(scores[:, w], ((words * counts).sum(dim=1) / lp + 0.2 * covered).detach())


def test_a_beam_of_one_writes_what_greedy_writes(writer, device):
    arguments = writer, SOURCE.to(device), LENGTHS
    assert torch.equal(beam(*arguments, max_length=6, width=1).tokens[:, 0], greedy(*arguments, max_length=6).tokens)


def test_a_wide_beam_finds_nothing_worse_than_greedy(writer, device):
    search = partial(beam, writer, SOURCE.to(device), LENGTHS, max_length=3)
    assert (search(width=1 + 4 + 16 + 64).scores[:, 0] >= search(width=1).scores[:, 0] - 1e-5).all()
