"""Prompts and their twins, with a tiny model in place of the real one; nothing is fetched."""

from types import SimpleNamespace

import pytest
import torch
from experiment_runs import checked_run
from word_tokenizer import Words

from attnbook.models import LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import real_exchange
from attnruns.shared.runner import Job


@pytest.fixture(autouse=True)
def pretrained(monkeypatch):
    """Three layers of three heads with fixed weights."""
    torch.manual_seed(0)
    model = LanguageModel(60, TransformerConfig(d_model=24, heads=3, layers=3, d_ff=24)).eval().requires_grad_(False)
    found = Pretrained(model, Words(), ())
    words = torch.randint(60, (2, 8), generator=torch.Generator().manual_seed(1))
    texts = torch.randint(60, (48,), generator=torch.Generator().manual_seed(2))
    for name, value in {"smollm2": lambda: found, "TEXT": 8, "LOW": 2.0, "segments": lambda *_: words,
                        "text_tokens": lambda _: texts}.items():  # fmt: skip
        monkeypatch.setattr(real_exchange, name, value)
    monkeypatch.setattr(real_exchange.real_binding, "chosen", lambda _: ([(2, 0)], [(0, 1)]))
    monkeypatch.setattr(real_exchange.real_binding, "LOW", 2.0)
    return found


def test_a_twin_exchanges_the_words_of_a_pair_and_keeps_the_colours(pretrained):
    ((first, second),) = real_exchange.twins(pretrained, 1, seed=0)
    assert torch.equal(first.tokens[first.answers], second.tokens[second.answers])
    word_of = dict(zip(first.which.tolist(), first.tokens[first.asked].tolist(), strict=True))
    exchanged = dict(zip(second.which.tolist(), second.tokens[second.asked].tolist(), strict=True))
    assert all(exchanged[number] == word_of[number ^ 1] for number in word_of if number ^ 1 in word_of)
    colour_of = dict(zip(first.which.tolist(), first.wanted.tolist(), strict=True))
    assert all(colour_of[number] != colour_of[number ^ 1] for number in colour_of if number ^ 1 in colour_of)


def test_a_control_is_the_head_of_the_layer_that_a_text_needs_most(pretrained, monkeypatch):
    needed = {(0, 0): 0.1, (0, 2): 0.7, (1, 0): 0.2, (1, 1): 0.3}
    monkeypatch.setattr(real_exchange, "costs", lambda _, __, groups: [needed[at] for (at,) in groups])
    table = {"previous": [[0.0, 0.9, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]}
    assert real_exchange.costliest(pretrained, table, [(0, 1), (1, 2)], torch.zeros(1, 4)) == [(0, 2), (1, 1)]


def test_a_colour_is_the_words_own_or_that_of_the_other_word(pretrained, monkeypatch):
    lines = real_exchange.Lines(*map(torch.tensor, ([0] * 12, [0, 3, 6, 9], [1, 4, 7, 10], [0, 1, 2, 0], [0, 1, 2, 0])))
    logits = torch.zeros(2, 12, 4)
    logits[0, 9, 0] = logits[1, 9, 1] = 1.0  # one names the own colour, one that of the other word
    maps = [torch.zeros(2, 1, 12, 12)]
    maps[0][:, 0, 9, 1], maps[0][:, 0, 9, 4] = 0.75, 0.25
    monkeypatch.setattr(real_exchange, "label_ids", lambda _: [0, 1, 2, 3])
    seen = real_exchange.followed(pretrained, lines, SimpleNamespace(logits=logits, maps=maps), [(0, 0)])
    assert seen["own"].flatten().tolist() == [1, 0]
    assert seen["other"].flatten().tolist() == [0, 1]
    assert seen["found_own"].flatten().tolist() == [0.75] * 2
    assert seen["found_other"].flatten().tolist() == [0.25] * 2


def test_everywhere_all_later_layers_read_the_exchange(pretrained):
    ((first, second),) = real_exchange.twins(pretrained, 1, seed=0)
    words = torch.stack([first.tokens, second.tokens])
    paths, model = real_exchange.ExchangedPaths(pretrained.model, words, [(1, 2)]), pretrained.model
    usual, one = model(words)[0], real_exchange.everywhere(paths, words, [(1, 2)])
    assert (one.logits - usual).abs().max() > 1e-4
    torch.testing.assert_close(one.maps[:2], list(model.maps(words))[:2])  # layer 1 writes, and layer 2 reads it
    assert (one.maps[2] - model.maps(words)[2]).abs().max() > 1e-4
    torch.testing.assert_close(model(words)[0], usual)  # afterwards all is as it was


def test_the_keys_of_the_twin_change_the_attention_from_a_layer_on(pretrained):
    ((first, second),) = real_exchange.twins(pretrained, 1, seed=0)
    words, model = torch.stack([first.tokens, second.tokens]), pretrained.model
    usual, paths = list(model.maps(words)), real_exchange.ExchangedPaths(model, words, [(0, 1)])
    read = real_exchange.keys_of_the_twin(paths, words, 1)
    torch.testing.assert_close(read.maps[0], usual[0])
    attention, norm, x = model.blocks.layers[1].self_attention, model.blocks.layers[1].norm_self, paths.entering[1]
    _, wanted = attention(norm(x), norm(x.roll(1, dims=0)), norm(x), paths.mask)
    torch.testing.assert_close(read.maps[1], wanted)
    assert (read.maps[1] - usual[1]).abs().max() > 1e-4
    torch.testing.assert_close(list(model.maps(words)), usual)  # afterwards all is as it was


def test_a_run_measures_its_part(tmp_path):
    figures = checked_run(real_exchange, Job("exchange", 0, 2), tmp_path, "cpu")
    assert figures["heads"]["binders"] == [[1, 2]]
    assert figures["heads"]["others"][0][0] == 1
    draws = [f"draw {draw}" for draw in range(real_exchange.DRAWS)]
    assert all(len(figures["heads"][draw]) == 1 and figures["heads"][draw] != [[1, 2]] for draw in draws)
    assert set(figures["read"]) == {"usual", *(f"{who}keys" for who in ("", "others, ", *(f"{of}, " for of in draws))),
                                    "queries", "values"}  # fmt: skip
    assert all(0 <= share <= 1 for of in figures["read"].values() for share in of.values())


def test_a_wider_exchange_is_read_by_all_later_layers(tmp_path):
    figures = checked_run(real_exchange, Job("wider", 0, 2), tmp_path, "cpu")
    draws = [f"draw {draw}, everywhere" for draw in range(real_exchange.DRAWS)]
    assert set(figures["read"]) == {"usual", "everywhere", "all keys", *draws}
    assert figures["heads"] == {"binders": [[1, 2]], "finders": [[3, 1]]}
    assert all(0 <= share <= 1 for of in figures["read"].values() for share in of.values())


@pytest.mark.parametrize("name", list(real_exchange.EXCHANGED))
def test_the_example_is_read_with_each_exchange(name, tmp_path):
    figures = checked_run(real_exchange, Job(name, 0, 1), tmp_path, "cpu")
    assert len(figures["tokens"]) == len(figures["usual"]["weights"])
    assert {"usual", "keys", "queries", "values", "others, keys"} <= set(figures)
    assert all(0 <= share <= 1 for share in figures["keys"]["probabilities"].values())
    for kind in ("usual", "keys", "queries", "values", "others, keys"):
        assert sum(figures[kind]["weights"]) == pytest.approx(1, abs=1e-3), kind
    assert figures["keys"]["weights"] != figures["usual"]["weights"]
    assert figures["values"]["weights"] == figures["usual"]["weights"]
