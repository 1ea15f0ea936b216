"""The experiment with sizes, texts and contexts, in miniature; nothing is fetched."""

import pytest
import torch
from experiment_runs import checked_run, once_on_the_card

from attnbook.data.texts.language import text_task
from attnbook.data.texts.text import own_corpus
from attnbook.measure.text import text_loss
from attnbook.models import KneserNey, LanguageModel, TransformerConfig
from attnbook.models.pretrained import Pretrained
from attnruns.experiments import scaling
from attnruns.shared.runner import Job

SIZE = 40


@pytest.fixture(scope="module")
def small():
    """A few lines of the book's own text, in place of captions."""
    return text_task(
        "small", *([line.text for line in part] for part in own_corpus(train=120, validation=9, test=9)), 120
    )


def tiny() -> Pretrained:
    torch.manual_seed(0)
    return Pretrained(LanguageModel(SIZE, TransformerConfig(d_model=16, heads=2, layers=1)).eval(), None, ())


@pytest.fixture
def nearby(small, monkeypatch):
    monkeypatch.setattr(scaling, "caption_task", lambda: small)
    monkeypatch.setattr(scaling, "fetch", lambda name: name)
    monkeypatch.setattr(scaling, "load", lambda path, dtype, fused: tiny())
    monkeypatch.setattr(scaling, "text_tokens", lambda pretrained: torch.arange(400) % SIZE)
    for name, value in {"CONTEXTS": (2, 8), "PREDICTED": 4, "POSITIONS": 5}.items():
        monkeypatch.setattr(scaling, name, value)
    return small.task


NAMES = ["width_12", "steps_14", "trigram", scaling.SMOLLM2]


@pytest.mark.parametrize("name, best", once_on_the_card(NAMES), indirect=["best"])
def test_a_run_measures_a_model_of_its_name(name, best, nearby, tmp_path):
    figures = checked_run(scaling, Job(name, 1, 2), tmp_path, best)
    if name == scaling.SMOLLM2:
        assert list(figures["after"]) == ["2", "8"]
    else:
        assert len(figures["by_position"]) == 5
        assert isinstance(scaling.build(name), KneserNey if name == "trigram" else LanguageModel)


def test_a_run_counts_the_tokens_that_it_was_trained_on(nearby):
    figures = scaling.run(Job("width_12", 0, 3)).figures  # 168 lines are two batches of 64 and a smaller one
    whole = sum(len(example.target) + 1 for example in nearby.train)
    assert figures["tokens"] == whole


def test_the_held_out_loss_is_that_of_the_package(nearby):
    model = scaling.build("width_12").eval()
    loss = text_loss(model, nearby, nearby.test)
    assert scaling.measure(model, nearby)["held_out"] == pytest.approx(loss.nats / loss.words, abs=1e-4)


def test_losses_by_position_are_means_over_the_captions_that_are_long_enough(nearby):
    nats = scaling.by_position(scaling.build("trigram"), nearby)
    lengths = [len(example.target) + 1 for example in nearby.test]
    assert (~nats.isnan()).sum(dim=1).tolist() == lengths
    at_third = [row[2].item() for row in nats]
    assert scaling.measure(scaling.build("trigram"), nearby)["by_position"][2] == pytest.approx(
        sum(at_third) / len(at_third), abs=1e-4
    )


def test_sizes_lie_over_two_orders_of_magnitude():
    widths = [recipe.width for name, recipe in scaling.RECIPES.items() if name.startswith("width")]
    sizes = [
        scaling.non_embedding(scaling.Recipe(width, 1).build(text_task("t", ["ab"], ["b"], ["b"], 8).task))
        for width in widths
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 100 * sizes[0]


def test_vectors_of_words_are_not_counted_and_everything_else_is(nearby):
    model = scaling.build("width_12")
    every = sum(weight.numel() for weight in model.parameters())
    assert scaling.non_embedding(model) == every - model.embed.words.weight.numel()
    assert scaling.non_embedding(model) == pytest.approx(12 * 2 * 12**2, rel=0.2)  # 12 · layers · width²


def test_smollm2_predicts_the_same_words_after_every_context(nearby):
    texts = torch.randint(SIZE, (3, 12), generator=torch.Generator().manual_seed(0))
    found = scaling.after_contexts(tiny(), texts)
    with torch.no_grad():
        for context, nats in found.items():
            words = texts[:, -4 - int(context) :]
            logits = tiny().model(words)[0][:, -5:-1]
            wanted = torch.nn.functional.cross_entropy(logits.mT, texts[:, -4:])
            assert nats == pytest.approx(wanted.item(), abs=1e-4)


def test_no_two_seeds_read_the_same_text(monkeypatch):
    monkeypatch.setattr(scaling, "CONTEXTS", (2, 8))
    monkeypatch.setattr(scaling, "PREDICTED", 4)
    texts = [scaling.texts_of(torch.arange(100), 2, seed) for seed in range(3)]
    assert torch.cat(texts).flatten().tolist() == list(range(72))


def test_a_shorter_training_warms_up_for_as_large_a_share():
    assert [scaling.Recipe(84, 1).training(steps)["warmup"] for steps in (2, 151, 453)] == [1, 15, 45]


def test_the_rate_falls_with_the_root_of_the_width():
    rates = {width: scaling.Recipe(width, 1).training(1000)["learning_rate"] for width in (24, 96, 384)}
    assert rates == {24: 0.014, 96: 0.007, 384: 0.0035}
