"""What is measured of a translator: in the order of the sentences, whatever shares a batch."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from attnbook.data import shift_right
from attnbook.data.batching import Example, Task
from attnbook.data.symbols.algorithmic import reversed_strings
from attnbook.data.texts.byte_pairs import BytePairs
from attnbook.data.texts.hand_alignments import HandAlignment
from attnbook.data.texts.translation import TESTS, TranslationTask
from attnbook.decoding import select
from attnbook.measure.metrics import error_rates
from attnbook.measure.translation import bleu_from_counts
from attnbook.models import AttentionSeq2Seq, PlainSeq2Seq, Transformer, TransformerConfig
from attnbook.training import teacher_forcing_loss
from attnruns.shared import translation


class Spaced(BytePairs):
    """Pieces that are words: joined with spaces, so that BLEU has something to count."""

    def decode(self, pieces):
        return " ".join(pieces)


@pytest.fixture
def data(monkeypatch) -> TranslationTask:
    """Strings of 3 to 6 letters to be reversed, each letter a word; three sentences share a batch."""
    monkeypatch.setattr(translation, "ROWS", 3)
    task = reversed_strings("abcd", 3, 6, train=60, validation=7, test_per_size=4, longer=())
    pieces = Spaced("abcd", [])

    def references(examples):
        return [pieces.decode(example.target) for example in examples]

    tests = {"first": task.test, "second": task.test[::-1]}
    named = {"validation": task.validation, **tests}
    return TranslationTask(task, pieces, pieces, tests, {name: references(part) for name, part in named.items()})


@pytest.fixture
def sure(knowing):
    """The class of models that know the answer, and have no doubt that a beam could make use of."""

    class Sure(knowing):
        def step(self, token, state):
            logits, state, weights = super().step(token, state)
            return 50 * logits, state, weights

        select = staticmethod(select)

    return Sure


@pytest.fixture
def sizes(data) -> tuple[int, int]:
    return len(data.task.source_vocabulary), len(data.task.target_vocabulary)


@pytest.mark.parametrize("width", [1, 3])
def test_translations_come_in_the_order_of_the_sentences(data, sure, width):
    shuffled = [data.task.test[i] for i in (9, 0, 14, 3, 7, 11, 5)]
    wanted = [data.target_pieces.decode(example.target) for example in shuffled]
    assert translation.write(sure(), data, shuffled, width) == wanted


def test_the_loss_is_the_mean_over_all_pieces_whatever_shares_a_batch(data, sizes, monkeypatch):
    model = PlainSeq2Seq(*sizes, embedding=4, hidden=6).double().eval()
    examples = data.task.validation
    alone = [teacher_forcing_loss(model, data.task.collate([one])).item() for one in examples]
    pieces = [len(example.target) + 1 for example in examples]
    wanted = sum(loss * count for loss, count in zip(alone, pieces, strict=True)) / sum(pieces)
    assert translation.target_loss(model, data.task, examples) == pytest.approx(wanted)
    monkeypatch.setattr(translation, "ROWS", 100)
    assert translation.target_loss(model, data.task, examples) == pytest.approx(wanted)


def test_a_translator_that_makes_no_mistake_scores_100(data, sure):
    measured = translation.scored(sure(), data)
    assert list(measured["scores"]) == ["validation", "first", "second"]
    assert [list(scores) for scores in measured["scores"].values()] == [["greedy", "beam"]] * 3
    for scores in (one for part in measured["scores"].values() for one in part.values()):
        assert scores["bleu"] == scores["bleu_lower"] == scores["chrf"] == 100
    own = translation.write(sure(), data, data.task.validation)
    assert translation.gain_since(own, sure(), data) == {"bleu": 100, "gain": [0, 0, 0]}
    assert translation.gain_since(own[1:] + own[:1], sure(), data)["gain"][1] > 0
    assert measured["source_words"] == [example.size for example in data.task.test]


def test_the_counts_are_those_of_the_beam_on_each_test(data, sure):
    slipping = sure(wrong=data.task.target_vocabulary.encode(["a"])[0])
    measured = translation.scored(slipping, data)
    assert list(measured["later_bleu_counts"]) == ["second"]
    for test, counts in (("first", measured["bleu_counts"]), *measured["later_bleu_counts"].items()):
        rows = torch.tensor([[int(word) for word in row.split()] for row in counts])
        assert rows.shape == (len(data.tests[test]), 10)
        assert 0 < measured["scores"][test]["beam"]["bleu"] < 100
        assert bleu_from_counts(rows).item() == pytest.approx(measured["scores"][test]["beam"]["bleu"], abs=0.006)


def test_samples_show_source_reference_and_translation(data, sure):
    samples = translation.sample_translations(sure(), data, 4)
    assert len(samples) == 4
    for sample, example in zip(samples, data.task.test, strict=False):
        assert sample["source"] == data.source_pieces.decode(example.source)
        assert sample["reference"] == sample["translation"] == data.target_pieces.decode(example.target)


def test_alignments_have_a_row_of_weights_for_each_piece_of_the_translation(data, sure):
    found = translation.alignments(sure(), data, 3)
    assert len(found) == 3
    for one, example in zip(found, data.task.test, strict=False):
        assert (one["source"], one["target"]) == (list(example.source), list(example.target))
        reading = [row.index(1.0) for row in one["weights"]]
        assert reading == list(reversed(range(len(example.source))))


def test_only_a_model_with_attention_has_alignments(data, sizes):
    assert translation.alignments(PlainSeq2Seq(*sizes, embedding=4, hidden=6), data, 2) == []
    [one] = translation.alignments(AttentionSeq2Seq(*sizes, embedding=4, hidden=6), data, 1)
    for row in one["weights"]:
        assert sum(row) == pytest.approx(1, abs=0.005 * len(row))


def test_measuring_needs_no_gradients(data, sizes):
    model: nn.Module = PlainSeq2Seq(*sizes, embedding=4, hidden=6)
    assert isinstance(translation.target_loss(model, data.task, data.task.validation), float)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_beams_are_compared_on_the_validation_part(data, sure):
    found = translation.by_beam(sure(), data)
    assert [(one["width"], one["alpha"]) for one in found] == list(translation.BEAMS)
    assert all(one["bleu"] == 100 and one["length_ratio"] == 1 for one in found)


def test_the_length_penalty_reaches_the_beam(data, sure, monkeypatch):
    heard = []
    search = translation.beam
    monkeypatch.setattr(translation, "beam", lambda *a, **named: heard.append(named["alpha"]) or search(*a, **named))
    translation.write(sure(), data, data.task.test[:2], 2, 0.3)
    assert heard == [0.3]


# ---- alignments of words


LINKED = (HandAlignment(frozenset({(0, 1), (1, 0)}), frozenset({(0, 1), (1, 0), (2, 2)})),)


@pytest.fixture
def linked(data, monkeypatch) -> TranslationTask:
    """One sentence with links, "ab c" and its translation "de f"; b and e are pieces inside of a word."""
    pieces = BytePairs(["▁a", "b", "▁c", "."], []), BytePairs(["▁d", "e", "▁f", "."], [])
    vocabularies = [one.vocabulary() for one in pieces]
    example = Example(("▁a", "b", "▁c", "."), ("▁d", "e", "▁f", "."), size=2)
    task = Task("de-en", [example], [example], [example], {}, *vocabularies)
    monkeypatch.setattr(translation, "hand_alignments", lambda: LINKED)
    return TranslationTask(task, *pieces, {TESTS[0]: [example]}, {TESTS[0]: ["de f."]})


def attending(*rows: tuple[float, ...]) -> Callable:
    """Stands for the weights of one layer: a row per piece of the target, and one of its end."""
    return lambda model, batch, heads=False: [torch.tensor([[*rows, rows[-1]]])]


def test_the_error_rate_is_0_for_a_model_that_attends_as_the_links_say(linked, sure, monkeypatch):
    crossed = attending((0.1, 0.1, 0.8, 0), (0, 0, 1.0, 0), (0.5, 0.5, 0, 0), (0, 0, 0, 1.0))
    monkeypatch.setattr(translation, "weights_by_layer", crossed)
    assert translation.alignment_errors(sure(), linked) == [0]


def test_a_wrong_link_counts_as_och_and_ney_say(linked, sure, monkeypatch):
    straight = attending((0.5, 0.5, 0, 0), (0.5, 0.5, 0, 0), (0, 0, 1.0, 0), (0, 0, 0, 1.0))
    monkeypatch.setattr(translation, "weights_by_layer", straight)
    # links (0, 0), (1, 1), (2, 2): none of two sure ones, one of the possible ones
    assert translation.alignment_errors(sure(), linked) == [pytest.approx(1 - (0 + 1) / (3 + 2), abs=1e-4)]


def test_a_model_has_an_error_rate_per_layer_of_attention(linked):
    sizes = linked.sizes()
    config = TransformerConfig(d_model=8, heads=2, layers=3, d_ff=8)
    assert len(translation.alignment_errors(Transformer(*sizes, config).eval(), linked)) == 3
    assert len(translation.alignment_errors(AttentionSeq2Seq(*sizes, embedding=4, hidden=6), linked)) == 1
    assert translation.alignment_errors(PlainSeq2Seq(*sizes, embedding=4, hidden=6), linked) == []


def test_each_head_can_be_counted_alone_layer_by_layer(linked, monkeypatch):
    crossed = [[0.1, 0.1, 0.8, 0], [0, 0, 1.0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1.0], [0, 0, 0, 1.0]]
    straight = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0], [0, 0, 0, 1.0]]
    heads = torch.tensor([crossed, straight])  # (h, T, Tk)
    model = Transformer(*linked.sizes(), TransformerConfig(d_model=8, heads=2, layers=2, d_ff=8)).eval()
    maps = SimpleNamespace(cross=[heads[None], heads.flip(0)[None]])
    monkeypatch.setattr(Transformer, "maps", lambda self, *inputs: maps)
    counts = translation.alignment_counts(model, linked, heads=True)
    assert counts[:, 0].tolist() == [[5, 5], [1, 5], [1, 5], [5, 5]]  # all three links are right, or only one of them
    assert error_rates(counts).tolist() == pytest.approx([0, 0.8, 0.8, 0])


def test_other_sentences_have_no_links(data, sure):
    assert translation.alignment_errors(sure(), data) == []


def test_the_weights_of_a_layer_are_the_mean_of_its_heads(linked):
    model = Transformer(*linked.sizes(), TransformerConfig(d_model=8, heads=2, layers=2, d_ff=8)).eval()
    batch = linked.task.collate(linked.task.test)
    layers = translation.weights_by_layer(model, batch)
    cross = model.maps(batch.source, batch.lengths, shift_right(batch.target)).cross
    for layer, heads in zip(layers, cross, strict=True):
        torch.testing.assert_close(layer, (heads[:, 0] + heads[:, 1]) / 2)


def test_weights_of_words_are_summed_over_the_source_and_averaged_over_the_target():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]])
    found = translation.word_weights(weights, [0, 0, 1], [0, 0, 1])
    torch.testing.assert_close(found, torch.tensor([[0.45, 0.55], [1.0, 0.0]]))
