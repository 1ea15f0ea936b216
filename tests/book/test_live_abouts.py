"""What live figures say about their models: the sizes are those of the weights, the trainings those of the records."""

import json

from live_pages import WEIGHTS
from live_said import said

from attnruns.experiments import captioning, numbers
from attnruns.results import load_result


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


def test_the_aligner_names_its_size_and_the_lists_of_its_training():
    task, about = numbers.task(), said("aligner", "about")
    assert f"{round(count(numbers.trained('attention')), -3):,} numbers" in about
    assert {example.size for example in task.train} == {1, 2, 3, 4, 5, 6}
    assert "lists of one to six numbers below a thousand" in about


def test_the_captioner_names_sizes_and_training_of_its_two_models():
    about = said("captioner", "about")
    for name in ("soft", "hard_4"):
        assert f"{round(count(captioning.trained(name)), -3):,} numbers each" in about
    assert captioning.RECIPES["hard_4"].samples == 4
    assert "REINFORCE with four draws" in about


def test_the_translator_names_its_size_and_the_minutes_of_its_training():
    runs, about = load_result("translate")["runs"], said("translator", "about")
    run = next(run for run in runs if run["model"] == "transformer_de_en" and run["seed"] == 0)
    assert f"{run['parameters'] / 1e6:.1f} million numbers" in about
    assert f"trained in {run['seconds'] / 60:.0f} minutes on one processor core" in about
    assert run["device"] == "cpu"


def test_the_stored_maps_are_of_thirty_layers_of_nine_heads():
    sentences = json.loads((WEIGHTS / "smollm2_heads.json").read_text(encoding="utf-8"))
    assert [(one["layers"], one["heads"]) for one in sentences] == [(30, 9)] * 3
    assert "three sentences, 30 layers of nine heads" in said("smollm2_heads", "about")


def test_the_stored_logits_are_of_the_whole_vocabulary():
    beginnings = json.loads((WEIGHTS / "smollm2_next_words.json").read_text(encoding="utf-8"))
    assert {(len(one["named"]), f"{one['size']:,}") for one in beginnings} == {(200, "49,152")}
    assert "the 200 most probable of its 49,152 tokens by name" in said("sampling", "about")
