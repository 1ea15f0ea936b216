"""The experiment on translation: recipes are what they say, and a training leaves its figures and no other files."""

import json
import os
from argparse import Namespace
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sacrebleu.metrics import BLEU
from torch import nn

from attnbook.data import shift_right
from attnbook.data.texts.translation import PIECES, TokenBatches, multi30k_task, own_translation_task
from attnbook.decoding import greedy
from attnbook.models import AttentionSeq2Seq
from attnbook.training import fit
from attnruns.experiments import translate
from attnruns.shared import runner
from attnruns.shared.pool import Event
from attnruns.shared.runner import Job, run_experiment
from attnruns.translate import read_pieces

STEPS = 6
TIMES = {"seconds", "wall_seconds", "pieces_per_second"}  # of the machine, not of the training


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The tiny recipe in an empty folder, and its weights are kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNBOOK_DEVICE", "cpu")
    recipe = replace(translate.RECIPES["tiny_de_en"], kept=1)
    monkeypatch.setitem(translate.RECIPES, "tiny_de_en", recipe)
    return recipe


# ---- recipes


@pytest.mark.slow
@pytest.mark.parametrize("name", translate.RECIPES)
def test_each_recipe_builds_what_its_name_says_and_can_be_trained(name):
    recipe, data = translate.RECIPES[name], own_translation_task()
    model: Any = recipe.build(data.sizes())
    before = [parameter.clone() for parameter in model.parameters()]
    batch = TokenBatches(data.task).batch_at(0, 128)
    history = fit(model, lambda step: batch, 1, schedule=lambda step: 1e-3, progress=False)
    assert 3 < history.losses[0] < 9  # log 300 is 5.7
    assert all(not torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
    weights = greedy(model, batch.source[:2], batch.lengths[:2], max_length=3).weights
    assert (weights is None) == (recipe.kind == "plain")
    if not name.startswith("tried_"):  # these are named after what is tried
        assert recipe.kind in name.split("_") or name.startswith("tiny_")
        assert name.endswith(recipe.pair.replace("-", "_"))


def test_the_five_translators_are_of_like_size_and_about_what_fits_two_cores():
    counts = {
        kind: sum(p.numel() for p in translate.RECIPES[f"{kind}_de_en"].build((PIECES, PIECES)).parameters())
        for kind in translate.KINDS
    }
    assert len(counts) == 5
    assert all(2_500_000 < count < 5_000_000 for count in counts.values()), counts


def test_the_control_differs_from_the_plain_model_in_reading_both_ways_alone():
    plain, control = (translate.RECIPES[f"{name}_de_en"] for name in ("plain", "plain_both_ways"))
    assert replace(control, config={}) == plain
    one_way, both_ways = (recipe.build((30, 30)) for recipe in (plain, control))
    assert both_ways.encoder.rnn.bidirectional
    assert not one_way.encoder.rnn.bidirectional
    assert both_ways.encoder.rnn.hidden_size * 2 == one_way.encoder.rnn.hidden_size


def test_both_directions_have_the_same_recipes():
    for kind in translate.KINDS:
        there, back = (translate.RECIPES[f"{kind}_{pair}"] for pair in ("de_en", "en_de"))
        assert replace(there, pair="en-de", kept=0) == replace(back, kept=0)


def test_the_digest_changes_with_everything_in_a_recipe():
    recipe = translate.RECIPES["transformer_de_en"]
    words: dict[str, Any] = {
        "kind": "plain",
        "config": {"heads": 3},
        "pair": "en-de",
        "text": "own",
        "patience": 3,
        "pieces": 9,
    }
    numbers = {one.name: getattr(recipe, one.name) + 1 for one in fields(recipe) if one.name not in words}
    others = [replace(recipe, **{name: value}) for name, value in (words | numbers).items()]
    assert len({one.digest() for one in (recipe, *others)}) == len(fields(recipe)) + 1
    assert recipe.digest() == replace(recipe).digest()
    assert len(recipe.digest()) == 8


@pytest.mark.skipif(not os.environ.get("ATTNBOOK_DATA"), reason="needs the files of Multi30k in ATTNBOOK_DATA")
def test_an_epoch_of_the_translators_has_as_many_batches_as_chapter_18_says():
    batches, of_small_pieces = (TokenBatches(multi30k_task("de-en", pieces).task) for pieces in (3000, 1000))
    assert batches.steps_per_epoch(translate.BATCH) == 243
    assert of_small_pieces.steps_per_epoch(translate.BATCH) == 303


# ---- dropout


@pytest.mark.parametrize("kind", ["plain", "bahdanau", "luong", "gnmt"])
def test_dropout_loses_numbers_in_training_alone(kind):
    make = translate.KINDS[kind][0]
    sizes, config = (9, 9), {"embedding": 4, "hidden": 6}
    models = []
    for part in (0.0, 0.5):
        torch.manual_seed(0)
        models.append(make(sizes, config, part))
    source, lengths = torch.tensor([[3, 4, 5], [6, 7, 8]]), torch.tensor([3, 3])
    arguments = source, lengths, shift_right(source)
    with torch.no_grad():
        without, dropped = (model.eval()(*arguments)[0] for model in models)
        assert torch.equal(without, dropped)
        models[1].train()
        assert not torch.equal(models[1](*arguments)[0], models[1](*arguments)[0])
        models[0].train()
        assert torch.equal(models[0](*arguments)[0], models[0](*arguments)[0])


def test_word_vectors_of_both_languages_and_the_output_layers_input_are_dropped():
    model = translate.with_dropout(AttentionSeq2Seq(9, 9, embedding=4, hidden=6), 0.5)
    found = [name for name, module in model.named_modules() if isinstance(module, nn.Dropout)]
    assert found == ["encoder.embed.1", "embed.1", "output.0"]


# ---- a training


FIELDS = {
    "parameters", "device", "ended_at", "losses", "validations", "validation_before_averaging", "validation_loss",
    "validation_loss_per_word", "scores",
    "bleu_counts", "later_bleu_counts", "source_words", "samples", "alignments", "alignment_error_rates", "beams",
    *TIMES,
}  # fmt: skip


def in_this_process(work, jobs, workers):
    """Stands for the pool of processes: does each job at once, here."""
    for job in jobs:
        yield Event("finished", job, work(job))


@pytest.mark.slow
def test_a_training_writes_its_record_with_every_field_and_leaves_no_checkpoint(tiny, tmp_path, monkeypatch, best):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # the runner sets it; so that it is put back
    monkeypatch.setattr(runner, "run_jobs", in_this_process)
    options = Namespace(seeds=[0], models=["tiny_de_en"], steps=20, workers=1, out=Path("out"), record=False)
    [run] = json.loads(run_experiment(translate.EXPERIMENT, options).read_text(encoding="utf-8"))["runs"]
    assert run.keys() == FIELDS | {"model", "seed", "steps", "commit"}
    assert run["device"] == best
    data = own_translation_task()
    assert list(run["scores"]) == ["validation", "test"]
    for scores in (one for part in run["scores"].values() for one in part.values()):
        assert scores["bleu_signature"].startswith("nrefs:1|case:mixed|")
    counts = torch.tensor([[int(number) for number in row.split()] for row in run["bleu_counts"]])
    assert counts.shape == (len(data.task.test), 10)
    written, wanted, *runs = counts.sum(dim=0).tolist()
    again = BLEU.compute_bleu(runs[:4], runs[4:], written, wanted, smooth_method="exp")
    assert again.score == pytest.approx(run["scores"]["test"]["beam"]["bleu"], abs=0.006)
    assert run["source_words"] == [example.size for example in data.task.test]
    assert [sample["reference"] for sample in run["samples"]] == data.references["test"][:20]
    assert all(sample["source"].endswith(".") for sample in run["samples"])
    for one in run["alignments"]:
        assert len(one["weights"]) == len(one["target"])
        for row in one["weights"]:
            assert len(row) == len(one["source"])
            assert sum(row) == pytest.approx(1, abs=0.005 * len(row))
    assert run["alignment_error_rates"] == []  # there are links for sentences of Multi30k alone
    before = run["validation_before_averaging"]
    assert before.keys() == {"loss", "bleu", "gain"}
    after = run["scores"]["validation"]["greedy"]["bleu"]
    assert before["gain"][0] == pytest.approx(after - before["bleu"], abs=0.02)
    assert before["gain"][1] <= before["gain"][0] <= before["gain"][2]
    assert [step for step, _ in run["validations"]] == list(range(1, 21))
    assert run["losses"][-1] < run["losses"][0]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "translate.json", "translate_pieces_de_en.json", "translate_tiny_de_en_0.pt",
    ]  # fmt: skip
    assert not any((tmp_path / "checkpoints").glob("*"))


@pytest.mark.slow
def test_what_is_kept_comes_back_with_its_pieces(tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    runner.run_job(translate.EXPERIMENT, tmp_path, Job("tiny_de_en", 0, 2))
    data = own_translation_task()
    source, target = read_pieces("de-en")
    assert (source.pieces, target.pieces) == (data.source_pieces.pieces, data.target_pieces.pieces)
    model: Any = translate.trained("tiny_de_en")
    assert not model.training
    assert (len(model.embed_source.words.weight), len(model.embed_target.words.weight)) == data.sizes()
    with pytest.raises(ValueError, match="translate_tiny_de_en_1"):
        translate.trained("tiny_de_en", seed=1)


@pytest.mark.slow
def test_a_seed_that_is_not_kept_leaves_figures_alone(tiny, monkeypatch):
    outcome = translate.run(Job("tiny_de_en", 1, 1))
    assert outcome.model is None
    assert outcome.texts == {}


class Interrupted(Exception):  # noqa: N818 (it reads as what happened)
    """Raised in the middle of a training."""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The outcome of a training to which nothing happens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("uninterrupted"))
        patch.setenv("ATTNBOOK_DEVICE", "cpu")
        patch.setitem(translate.RECIPES, "tiny_de_en", replace(translate.RECIPES["tiny_de_en"], kept=1))
        return translate.run(Job("tiny_de_en", 0, STEPS))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["in a step", "in a validation", "after the last step", "while it is measured"])
def test_an_interrupted_training_goes_on_and_ends_with_the_same_weights(place, tiny, monkeypatch, uninterrupted):
    job = Job("tiny_de_en", 0, STEPS)
    with monkeypatch.context() as patch:
        interrupt(patch, place)
        with pytest.raises(Interrupted):
            translate.run(job)
    assert os.listdir("checkpoints")
    torch.manual_seed(99)  # whatever the new process did before
    outcome = translate.run(job)
    figures, wanted = (
        {name: value for name, value in one.figures.items() if name not in TIMES} for one in (outcome, uninterrupted)
    )
    assert figures == wanted
    for name, tensor in uninterrupted.model.state_dict().items():
        assert torch.equal(outcome.model.state_dict()[name], tensor), name
    assert os.listdir("checkpoints") == []


def interrupt(patch, place: str) -> None:
    """Let an exception come once, at that place."""

    def raising(*arguments, **named):
        raise Interrupted

    loss, calls = translate.target_loss, []

    def third_loss(*arguments):
        calls.append(arguments)
        return raising() if len(calls) == 3 else loss(*arguments)

    def third_batch(self, step, *arguments):
        return raising() if step == 3 else batch_at(self, step, *arguments)

    batch_at = TokenBatches.batch_at
    if place == "in a step":
        patch.setattr(TokenBatches, "batch_at", third_batch)
    elif place == "in a validation":  # its weights are kept by then, and it has no checkpoint
        patch.setattr(translate, "target_loss", third_loss)
    elif place == "after the last step":
        patch.setattr(translate, "write", raising)
    else:
        patch.setattr(translate, "scored", raising)


@pytest.mark.slow
def test_the_weights_of_the_end_are_the_mean_of_the_last(tiny, monkeypatch, tmp_path):
    taken = []
    take = translate.Snapshots.take

    def noting(self, model, step):
        taken.append((step, {name: tensor.clone() for name, tensor in model.state_dict().items()}))
        take(self, model, step)

    monkeypatch.setattr(translate.Snapshots, "take", noting)
    outcome = translate.run(Job("tiny_de_en", 0, STEPS))
    assert [step for step, _ in taken] == list(range(1, STEPS + 1))
    last = [state for _, state in taken[-translate.AVERAGED :]]
    for name, tensor in outcome.model.state_dict().items():
        torch.testing.assert_close(tensor, torch.stack([state[name] for state in last]).mean(dim=0))


@pytest.mark.slow
def test_a_second_process_writes_nothing_and_has_the_average_of_the_first(tiny, monkeypatch):
    data = own_translation_task()
    first = {name: torch.ones_like(tensor) for name, tensor in tiny.build(data.sizes()).state_dict().items()}
    monkeypatch.setattr(translate.parallel, "rank", lambda: 1)
    monkeypatch.setattr(translate.parallel, "from_first", lambda value: value if isinstance(value, float) else first)
    outcome = translate.run(Job("tiny_de_en", 0, 2))
    assert os.listdir() == []
    assert all(torch.equal(tensor, first[name]) for name, tensor in outcome.model.state_dict().items())


def test_pieces_are_counted_in_both_languages_and_without_padding():
    data = own_translation_task()
    epoch = TokenBatches(data.task).steps_per_epoch(translate.BATCH)
    pieces = sum(len(one.source) + len(one.target) + 1 for one in data.task.train)
    assert translate.pieces_seen(data, Job("tiny_de_en", 0, epoch)) == pieces
    assert translate.pieces_seen(data, Job("tiny_de_en", 0, 3 * epoch)) == pytest.approx(3 * pieces)
