"""The models that run in the page, in Chromium from the disk: their numbers are PyTorch's on the same weights."""

import shutil

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, rounded_as_packed

from attnbook.data import copy_batch
from attnbook.data.points.geometry import random_points
from attnbook.data.points.pointing import hull_batch, tour_batch
from attnbook.decoding import beam, greedy
from attnbook.models.pointer import greedy_pointer_decode
from attnbook.seeding import generator
from attnruns.experiments import captioning, copying_paper, numbers, pointing, trip_file, trip_sizes
from attnruns.translate import translator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
SENTENCES = [
    "Ein Hund läuft durch den Schnee.",
    "Zwei Männer in roten Jacken steigen eine verschneite Treppe hinauf.",
    "Eine Frau mit Hut liest auf einer Bank ein Buch.",
    "Drei Kinder spielen am Strand Fußball, während ein Hund zusieht.",
    "Mehrere Leute stehen vor einem Laden Schlange.",
]

TRANSLATED = """
    const pack = await LIVE.load("translator"), model = LIVE.Transformer(pack);
    const source = LIVE.BytePairs(pack.pieces.source), target = LIVE.BytePairs(pack.pieces.target);
    const lists = (maps) => maps.map((heads) => heads.map((rows) => rows.map((row) => Array.from(row))));
    return GIVEN.sentences.map((sentence) => {
      const found = LIVE.translation(model, source, target, sentence, 5), ids = source.numbers(found.source);
      const start = model.start(ids), first = Array.from(model.step(LIVE.BOS, start).logits);
      const greedy = LIVE.write(model, start, { width: 1 }).tokens, { cross, encoder } = found.weights;
      return { ids, first, greedy, text: found.text, score: found.score, cross: lists(cross), encoder: lists(encoder) };
    });"""
ALIGNED = """
    const model = LIVE.AttentionSeq2Seq(await LIVE.load("numbers")), { ENGLISH, GERMAN } = LIVE.numbersInWords;
    const written = (words) => LIVE.aligned(model, words.map((word) => ENGLISH.indexOf(word)));
    const kept = ({ token, weights }) => ({ token, weights });
    return { ENGLISH, GERMAN, written: GIVEN.sources.map((words) => written(words).map(kept)) };"""
THROUGH_ONE_VECTOR = """
    const model = LIVE.PlainSeq2Seq(await LIVE.load("plain_numbers")), { ENGLISH } = LIVE.numbersInWords;
    return GIVEN.sources.map((words) => {
      const { tokens, vector } = LIVE.throughOneVector(model, words.map((word) => ENGLISH.indexOf(word)));
      return { tokens, vector: Array.from(vector) };
    });"""
POINTED = """
    const model = LIVE.PointerNetwork(await LIVE.load(GIVEN.pack));
    const first = GIVEN.first === null ? undefined : GIVEN.first;
    return GIVEN.points.map((points) => LIVE.pointAt(model, points, first).tokens);"""
COURIER = """
    const model = LIVE.Courier(await LIVE.load("courier"));
    return GIVEN.points.map((points) => LIVE.driven(model, points));"""
CAPTIONED = """
    const model = LIVE.Captioner(await LIVE.load(GIVEN.pack), { hard: GIVEN.pack === "hard" });
    const image = LIVE.canvasOf([7, 2, 4, 3, 14, 17]), steps = LIVE.captioned(model, image);
    const kept = ({ word, weights }) => ({ word, weights: Array.from(weights) });
    return { image: Array.from(image), steps: steps.map(kept) };
"""


def close(found, wanted, within=1e-4):
    """Whether two lists of numbers, of any depth, agree."""
    found, wanted = torch.tensor(found, dtype=torch.float64), torch.as_tensor(wanted).double()
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() < within


@pytest.fixture(scope="module")
def translated(tmp_path_factory):
    """What the page and PyTorch make of the sentences."""
    model, source_pieces, target_pieces = translator()
    rounded_as_packed(model, "translator")
    found = answer(
        tmp_path_factory.mktemp("translator"), TRANSLATED, ["translator"], {"sentences": SENTENCES}, ["translator"]
    )
    return model, source_pieces, target_pieces, found


@torch.no_grad()
def test_the_translator_cuts_and_translates_as_pytorch_does(translated):
    model, source_pieces, target_pieces, all_found = translated
    for sentence, found in zip(SENTENCES, all_found, strict=True):
        ids = source_pieces.vocabulary().encode(source_pieces.encode(sentence))
        assert found["ids"] == ids
        source, lengths = torch.tensor([ids]), torch.tensor([len(ids)])
        wide = beam(model, source, lengths, max_length=60, width=5, alpha=0.6)
        words = [token for token in wide.tokens[0, 0].tolist() if token > 2]
        assert found["text"] == target_pieces.decode(target_pieces.vocabulary().decode(words))
        assert found["score"] == pytest.approx(wide.scores[0, 0].item(), abs=1e-4)
        slim = greedy(model, source, lengths, max_length=60).tokens[0].tolist()
        assert found["greedy"] == [token for token in slim if token > 2]


@torch.no_grad()
def test_logits_and_all_weights_of_the_translator_are_pytorchs(translated):
    model, _, target_pieces, all_found = translated
    found = all_found[1]
    source, lengths = torch.tensor([found["ids"]]), torch.tensor([len(found["ids"])])
    written = target_pieces.vocabulary().encode(target_pieces.encode(found["text"]))
    words = torch.tensor([[1, *written]])
    close(found["first"], model(source, lengths, words)[0][0, 0])
    maps = model.maps(source, lengths, words)
    close(found["cross"], torch.cat(maps.cross))
    close(found["encoder"], torch.cat(maps.encoder))


FAULTS = {
    "blocks.js": ("= Math.sqrt(to - from)", "= 1"),
    "products.js": ("[get(x), load, set(four)]", "[get(X), load, set(four)]"),
    "algebra.js": ("+ 1e-5", "+ 1e-2"),
    "transformer.js": ("value * Math.sqrt(D)", "value"),
}


@torch.no_grad()
@pytest.mark.parametrize("file", sorted(FAULTS))
def test_a_planted_fault_is_found(file, translated, tmp_path):
    *_, all_found = translated
    live, (right, wrong) = tmp_path / "live", FAULTS[file]
    shutil.copytree(ROOT / "book/live", live)
    text = (live / "engine" / file).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (live / "engine" / file).write_text(text.replace(right, wrong), encoding="utf-8")
    found = answer(tmp_path, TRANSLATED, ["translator"], {"sentences": SENTENCES[:1]}, ["translator"], live)[0]
    with pytest.raises(AssertionError):
        close(found["first"], all_found[0]["first"])


def test_without_webassembly_the_translator_writes_the_same(translated, tmp_path):
    *_, all_found = translated
    live, magic = tmp_path / "live", "[0x00, 0x61, 0x73, 0x6d"
    shutil.copytree(ROOT / "book/live", live)
    text = (live / "engine/products.js").read_text(encoding="utf-8")
    assert text.count(magic) == 1
    (live / "engine/products.js").write_text(text.replace(magic, "[0x01, 0x61, 0x73, 0x6d"), encoding="utf-8")
    asked = TRANSLATED.replace("return GIVEN", "if (LIVE.fastProducts) { return []; } return GIVEN", 1)
    found = answer(tmp_path, asked, ["translator"], {"sentences": SENTENCES[:2]}, ["translator"], live)
    assert [one["text"] for one in found] == [one["text"] for one in all_found[:2]]
    close(found[0]["first"], all_found[0]["first"])


@torch.no_grad()
def test_bahdanaus_model_writes_and_attends_as_pytorch_does(tmp_path):
    task, model = numbers.task(), rounded_as_packed(numbers.trained("attention"), "numbers")
    examples = task.test[::160][:10]
    found = answer(tmp_path, ALIGNED, ["numbers"], {"sources": [example.source for example in examples]}, ["aligner"])
    assert found["ENGLISH"] == list(task.source_vocabulary.words)
    assert found["GERMAN"] == list(task.target_vocabulary.words)
    for example, steps in zip(examples, found["written"], strict=True):
        source = torch.tensor([task.source_vocabulary.encode(example.source)])
        wanted = greedy(model, source, torch.tensor([source.shape[1]]), max_length=60)
        assert [step["token"] for step in steps] == wanted.tokens[0].tolist()
        close([step["weights"] for step in steps], wanted.weights[0])


@torch.no_grad()
def test_the_model_with_one_vector_reads_and_writes_as_pytorch_does(tmp_path):
    task, model = numbers.task(), rounded_as_packed(numbers.trained("plain"), "plain_numbers")
    examples = task.test[::160][:10]
    given = {"sources": [example.source for example in examples]}
    found = answer(tmp_path, THROUGH_ONE_VECTOR, ["plain_numbers"], given, ["bottleneck"])
    for example, written in zip(examples, found, strict=True):
        source = torch.tensor([task.source_vocabulary.encode(example.source)])
        lengths = torch.tensor([source.shape[1]])
        close(written["vector"], model.start(source, lengths).context[0])
        assert written["tokens"] == greedy(model, source, lengths, max_length=60).tokens[0].tolist()


@torch.no_grad()
@pytest.mark.parametrize(
    ("pack", "name", "draw"), [("hull", "hull_transformer", hull_batch), ("tour", "tsp10_transformer", tour_batch)]
)
def test_pointer_networks_point_as_pytorch_does(pack, name, draw, tmp_path):
    model, batch = rounded_as_packed(pointing.trained(name), pack), draw(9, 6, seed=5)
    given = {"pack": pack, "points": batch.source.tolist(), "first": model.first}
    found = answer(tmp_path, POINTED, [pack], given)
    decoded = greedy_pointer_decode(model, batch.source)
    for named, tokens in zip(found, decoded.tokens.tolist(), strict=True):
        assert named == tokens[: tokens.index(9) if 9 in tokens else None]


@torch.no_grad()
@pytest.mark.parametrize("cities", [5, 8])
def test_the_courier_of_the_chapter_s_file_drives_as_pytorch_does(cities, tmp_path):
    points = random_points(cities, 6, generator(5))
    model = rounded_as_packed(trip_sizes.trained("five"), "courier")
    trips, log_probs = trip_file.file(0)["answer"](model, points)
    found = answer(tmp_path, COURIER, ["courier"], {"points": points.tolist()}, ["courier"])
    assert [one["trip"] for one in found] == trips.tolist()
    close([one["steps"] for one in found], log_probs.exp())


@torch.no_grad()
def test_the_machine_copies_as_pytorch_does(tmp_path):
    model, batch = copying_paper.trained("paper_feedforward"), copy_batch(12, 1, seed=3)
    script = """
        const machine = LIVE.NTM(await LIVE.load("ntm"));
        let state = machine.start(128);
        return GIVEN.inputs.map((x) => {
          const step = machine.step(x, state);
          state = step.state;
          return { output: Array.from(step.output), weights: step.state.heads.map((head) => Array.from(head.weights)) };
        });"""
    found = answer(tmp_path, script, ["ntm"], {"inputs": batch.inputs[0].tolist()})
    record = model.record(batch.inputs, rows=128)
    close([step["output"] for step in found], record.logits[0].sigmoid())
    close([step["weights"] for step in found], record.weights[0])


@torch.no_grad()
@pytest.mark.parametrize(("pack", "name"), [("soft", "soft"), ("hard", "hard_4")])
def test_captioners_write_and_attend_as_pytorch_does(pack, name, tmp_path):
    model = rounded_as_packed(captioning.trained(name), pack)
    found = answer(tmp_path, CAPTIONED, [pack], {"pack": pack}, ["captioner"])
    image = torch.tensor(found["image"]).view(1, 1, 28, 28)
    decoded = greedy(model, image, max_length=11)
    assert [step["word"] for step in found["steps"]] == ["a", "seven", "left", "of", "a", "three", "(end)"]
    close([step["weights"] for step in found["steps"]], decoded.weights[0, : len(found["steps"])])
