"""Where a translator reads a verb: what is exchanged, and what stays."""

import pytest
import torch
from own_captions import own_captions, untrained

from attnbook.data.texts.translation import cut
from attnruns.experiments import short_captions, verb_elsewhere
from attnruns.experiments.verb_elsewhere import LOOKING, VERBS, Reader, exchanged, full_stop, stays
from attnruns.shared.runner import Job
from attnruns.shared.translation import aligned


@pytest.fixture
def data(monkeypatch):
    return own_captions(monkeypatch)


@pytest.fixture
def model(data):
    return untrained(data)


def test_a_run_trains_and_exchanges(data):
    figures = verb_elsewhere.run(Job("bahdanau", 0, 2)).figures
    assert len(figures["losses"]) == 2
    assert figures["bleu"] >= 0
    assert [len(one["weights"]) for one in figures["captions"]] == [len(one["target"]) for one in figures["captions"]]
    assert set(figures["exchanged"]) == set(VERBS)
    assert set(figures["looking"]) == set(LOOKING)
    assert all(len(of["verb exchanged"]) == len(VERBS) - 1 for of in figures["looking"].values())


def test_only_the_wanted_part_comes_from_the_other_caption(model, data):
    reader = Reader(model, data)
    own, donor = (reader.starts[verb].annotations for verb in ("liest", "malt"))
    with torch.no_grad():
        of_object, of_verb = (reader.exchanged("liest", "malt", part) for part in ("object", "verb"))
    for values, changed in ((of_object, reader.object), (of_verb, reader.verb(own))):
        kept = [at for at in range(own.shape[1]) if at not in changed]
        assert torch.equal(values[:, kept], own[:, kept])
        assert not torch.allclose(values[:, changed], own[:, changed])
    assert torch.equal(of_object[:, reader.object], donor[:, reader.object])
    last = donor[:, [reader.verb(donor)[-1]]]
    assert torch.equal(of_verb[:, reader.verb(own)], last.expand(-1, len(reader.verb(own)), -1))


def test_object_and_verb_are_where_they_are_said_to_be(data, model):
    reader = Reader(model, data)
    pieces = data.source_pieces.encode(verb_elsewhere.caption("liest"))
    of_object, of_verb = (
        "".join(pieces[at] for at in part) for part in (reader.object, range(reader.object.stop, len(pieces) - 1))
    )
    assert (of_object.strip("▁"), of_verb.strip("▁")) == ("etwas", "liest")


def test_own_annotations_change_nothing_and_weights_are_what_attention_gives(model, data):
    reader = Reader(model, data)
    with torch.no_grad():
        word, weights = reader.write("liest")
        same, _ = reader.write("liest", reader.exchanged("liest", "liest", "object"))
    assert same == word
    assert weights.sum().item() == pytest.approx(1, abs=1e-5)
    found = exchanged(model, data, VERBS, VERBS)["liest"]
    assert found["word"] == word
    assert 0 <= found["weight on the object"] + found["weight on the verb"] <= 1
    assert len(found["object exchanged"]) == len(found["verb exchanged"]) == len(VERBS) - 1
    assert stays(found, "verb") == sum(other == word for other in found["verb exchanged"])


def test_the_last_piece_is_written_again_after_what_came_before_it(model, data, monkeypatch):
    begun = {"target": ["▁A", "▁man", "."]}
    monkeypatch.setattr(verb_elsewhere, "aligned", lambda *_: begun)
    found = full_stop(model, data)
    assert found["given"] == "A man"
    assert found["word"] == Reader(model, data, "A man").write(VERBS[0])[0]
    assert len(found["verb exchanged"]) == len(VERBS) - 1
    assert len(found["elsewhere exchanged"]) == Reader(model, data).object.stop
    assert 0 <= found["weight on the verb"] + found["weight on the full stop"] <= 1


def test_an_alignment_has_a_row_per_piece_written_and_a_column_per_piece_read(model, data):
    one = aligned(model, data, cut(verb_elsewhere.caption("malt"), "", data.source_pieces, data.target_pieces))
    assert one["source"] == data.source_pieces.encode(verb_elsewhere.caption("malt"))
    assert {len(row) for row in one["weights"]} <= {len(one["source"])}


def test_only_short_captions_are_read(monkeypatch):
    lines = {"de": ["Ein Hund.", "Ein " * 14 + "Hund."], "en": ["A dog.", "long"]}
    monkeypatch.setattr(short_captions.multi30k, "lines", lambda split, language: lines[language])
    assert [target for _, target in short_captions.short_pairs("train", verb_elsewhere.WORDS)] == ["A dog."]
