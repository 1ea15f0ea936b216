"""Greedy decoding takes the likeliest word, sampling draws one, and every sentence ends by itself."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_transformers import small_transformer

from attnbook.attention import LocationAware
from attnbook.data.symbols.numbers import number_lists
from attnbook.decoding import WithoutCache, chooser, greedy, sample, sampling_probabilities, select, stream, translate
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq

PAD, BOS, EOS, WORDS = 0, 1, 2, 7


class Scripted:
    """A model that writes what it was told, sentence by sentence; its state is the place of the next word."""

    def __init__(self, scripts: list[list[int]]) -> None:
        self.scripts = scripts
        self.read: list[list[int]] = []

    def start(self, source, lengths):
        return 0

    def step(self, token, state):
        self.read.append(token.tolist())
        words = torch.tensor([script[state % len(script)] for script in self.scripts])
        return torch.nn.functional.one_hot(words, WORDS).float(), state + 1, None


def write(scripts: list[list[int]], max_length: int, **options) -> tuple[list[list[int]], Scripted]:
    model, batch = Scripted(scripts), len(scripts)
    decoded = greedy(model, torch.zeros(batch, 1).long(), torch.ones(batch).long(), max_length=max_length, **options)
    assert decoded.weights is None
    return decoded.tokens.tolist(), model


scripts = st.lists(st.lists(st.integers(0, WORDS - 1), min_size=6, max_size=6), min_size=1, max_size=4)


@given(scripts, st.integers(1, 6))
def test_each_sentence_ends_at_its_own_end_and_repeats_it(scripts, max_length):
    rows, _ = write(scripts, max_length)
    written = [
        script[: script.index(EOS) + 1] if EOS in script[:max_length] else script[:max_length] for script in scripts
    ]
    longest = max(map(len, written))
    assert rows == [row + [EOS] * (longest - len(row)) for row in written]


def test_a_stream_hands_out_the_words_of_greedy_and_is_in_evaluation_mode_for_the_whole_text_alone():
    model = small_transformer(6, WORDS, dropout=0.5).train()
    source = torch.tensor([[3, 4, 5], [5, 4, 3]]), torch.tensor([3, 3])
    expected = greedy(model, *source, max_length=5, eos=-1).tokens
    words = stream(model, *source, max_length=5, choose=chooser(0), eos=-1)
    seen = []
    for token, weights in words:
        seen.append(token)
        assert weights.shape == (2, 3)
        assert torch.is_grad_enabled()
        assert not any(part.training for part in model.modules())
    assert torch.equal(torch.stack(seen, dim=1), expected)
    assert all(part.training for part in model.modules())
    stopped = stream(model, *source, max_length=5, choose=chooser(0))
    next(stopped)
    stopped.close()
    assert all(part.training for part in model.modules())


def test_decoding_stops_when_the_last_sentence_has_ended():
    rows, model = write([[3, EOS, 5, 5], [4, 4, EOS, 5]], max_length=50)
    assert rows == [[3, EOS, EOS], [4, 4, EOS]]
    assert len(model.read) == 3


def test_decoding_stops_at_max_length_without_an_end():
    rows, model = write([[3], [4, EOS]], max_length=4)
    assert rows == [[3, 3, 3, 3], [4, EOS, EOS, EOS]]
    assert len(model.read) == 4


def test_the_model_reads_the_start_symbol_and_then_its_own_words():
    _, model = write([[3, 4, EOS], [5, EOS, 6]], max_length=9)
    assert model.read == [[BOS, BOS], [3, 5], [4, EOS]]


def test_start_and_end_symbols_may_be_others():
    rows, model = write([[EOS, 6, 3], [3, 3, 6]], max_length=9, bos=5, eos=6)
    assert rows == [[EOS, 6, 6], [3, 3, 6]]
    assert model.read[0] == [5, 5]


MODELS = {
    "plain": lambda: PlainSeq2Seq(6, 5, 4, 6),
    "plain_lstm_first": lambda: PlainSeq2Seq(6, 5, 4, 6, "lstm", "first"),
    "attention": lambda: AttentionSeq2Seq(6, 5, 4, 6),
    "location_aware": lambda: AttentionSeq2Seq(6, 5, 4, 6, "lstm", score=LocationAware(6, 6, 3)),
    "transformer": lambda: small_transformer(6, 5),
    "transformer_post_linear_bias": lambda: small_transformer(6, 5, norm="post", positions="linear_bias"),
    "transformer_learned_window": lambda: small_transformer(6, 5, positions="learned", window=1),
}
SOURCE, LENGTHS = torch.tensor([[3, 4, 5, 3], [5, 0, 0, 0], [4, 4, 0, 0], [3, 5, 4, 0]]), torch.tensor([4, 1, 2, 3])


def slow_greedy(model, source, max_length):
    """One sentence, and the whole forward pass again for each word."""
    words, rows = [], []
    for _ in range(max_length):
        read = torch.tensor([[BOS, *words]], device=source.device)
        logits, weights = model(source[None], torch.tensor([len(source)]), read)
        words.append(int(logits[0, -1].argmax()))
        rows.append(None if weights is None else weights[0, -1])
        if words[-1] == EOS:
            break
    return words, rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_equals_one_sentence_at_a_time(name, seed, device, dtype, close):
    torch.manual_seed(seed)
    model = MODELS[name]().to(device, dtype)
    source, lengths = SOURCE.to(device), LENGTHS
    tokens, weights = greedy(model, source, lengths, max_length=8)
    assert tokens.device.type == device.type
    for row, length in enumerate(lengths.tolist()):
        words, looks = slow_greedy(model, source[row, :length], max_length=8)
        assert tokens[row].tolist() == words + [EOS] * (tokens.shape[1] - len(words))
        for t in range(len(words) if weights is not None else 0):
            close(weights[row, t, :length], looks[t])
            assert weights[row, t, length:].abs().sum() == 0


def test_weights_stand_beside_the_words_and_carry_no_gradient(device, dtype):
    model = AttentionSeq2Seq(6, 5, 4, 6).to(device, dtype)
    decoded = greedy(model, torch.tensor([[3, 4, 5], [4, 3, 0]], device=device), torch.tensor([3, 2]), max_length=4)
    assert decoded.weights.shape == (*decoded.tokens.shape, 3)
    assert decoded.weights.dtype == dtype
    assert not decoded.weights.requires_grad
    assert decoded.tokens.dtype == torch.long


@pytest.mark.parametrize("max_length", [0, -1])
def test_a_length_below_one_is_refused(max_length):
    with pytest.raises(ValueError, match=f"max_length must be at least 1, got {max_length}"):
        write([[3]], max_length)


def test_an_empty_batch_is_refused():
    with pytest.raises(ValueError, match=r"source must have shape \(B, Tk\) with B > 0, got \(0, 3\)"):
        greedy(AttentionSeq2Seq(6, 5, 4, 6), torch.zeros(0, 3).long(), torch.zeros(0).long(), max_length=4)


def test_translate_writes_what_greedy_writes_in_words():
    task = number_lists(train=9, validation=1, test_per_size=4, longest=2, longer=(), longer_per_size=0)
    sizes = len(task.source_vocabulary), len(task.target_vocabulary)
    model = AttentionSeq2Seq(*sizes, embedding=4, hidden=8)
    examples = task.test[:3]
    batch = task.collate(examples)
    words, weights = translate(model, task, examples)
    wanted = greedy(model, batch.source, batch.lengths, max_length=batch.target.shape[1] * 5 // 4)
    assert words == [task.target_vocabulary.decode(row) for row in wanted.tokens]
    assert torch.equal(weights, wanted.weights)
    assert translate(PlainSeq2Seq(*sizes, embedding=4, hidden=8), task, examples)[1] is None


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("transformer")])
@pytest.mark.parametrize("seed", range(3))
def test_without_the_cache_a_transformer_writes_and_looks_the_same(name, seed, device, dtype, close):
    model = MODELS[name]()
    torch.nn.init.normal_(model.embed_target.words.weight, std=0.6, generator=torch.Generator().manual_seed(seed))
    model.to(device, dtype)
    cached, slow = (greedy(m, SOURCE.to(device), LENGTHS, max_length=8) for m in (model, WithoutCache(model)))
    assert torch.equal(cached.tokens, slow.tokens)
    close(cached.weights, slow.weights)


# ---- sampling


class Same:
    """A model that gives the same logits at each step to each sentence."""

    def __init__(self, logits: torch.Tensor) -> None:
        self.logits = logits

    def start(self, source, lengths):
        return ()

    def step(self, token, state):
        return self.logits.expand(len(token), -1), state, None


def test_words_are_drawn_as_often_as_they_are_likely():
    logits, number = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5]), 20_000
    options = {"temperature": 0.8, "top_k": 4, "top_p": 0.95}
    many = torch.zeros(number, 1).long()
    chance = torch.Generator().manual_seed(0)
    tokens, _ = sample(Same(logits), many, many[:, 0], max_length=1, **options, generator=chance)
    wanted = sampling_probabilities(logits[None], **options)[0]
    frequencies = tokens.flatten().bincount(minlength=5) / number
    assert (frequencies - wanted).abs().max() < 4 * math.sqrt(0.25 / number)
    assert frequencies[wanted == 0].eq(0).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_generator_repeats_a_sample_and_ended_sentences_stay_ended(name, device, dtype):
    model = MODELS[name]().to(device, dtype)

    def write(seed: int, **options) -> torch.Tensor:
        generator = torch.Generator(device).manual_seed(seed)
        return sample(model, SOURCE.to(device), LENGTHS, max_length=8, generator=generator, **options).tokens

    first = write(1, temperature=1.5)
    assert torch.equal(first, write(1, temperature=1.5))
    assert not all(torch.equal(first, write(seed, temperature=1.5)) for seed in (2, 3, 4))
    assert first[(first == EOS).cumsum(dim=1) > 0].eq(EOS).all()
    assert torch.equal(write(1, top_k=1), greedy(model, SOURCE.to(device), LENGTHS, max_length=8).tokens)


def test_sampling_too_refuses_a_length_below_one():
    with pytest.raises(ValueError, match="max_length must be at least 1, got 0"):
        sample(Same(torch.zeros(WORDS)), SOURCE, LENGTHS, max_length=0)


# ---- states


def test_select_takes_sentences_out_of_nested_states_and_leaves_the_rest_alone():
    state = AttentionSeq2Seq(6, 5, 4, 6).start(SOURCE, LENGTHS)
    rows = torch.tensor([3, 0, 0])
    nested = ((state, None), 7, [SOURCE])
    (taken, nothing), number, others = select(nested, rows)
    assert (nothing, number) == (None, 7)
    assert torch.equal(others[0], SOURCE[rows])
    assert type(taken) is type(state)
    assert type(taken.alignment) is type(state.alignment)
    assert torch.equal(taken.annotations, state.annotations[rows])
    assert torch.equal(taken.alignment.previous, state.alignment.previous[rows])
