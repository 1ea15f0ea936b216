import pytest
import torch

from attnbook.data import EOS, number_list, number_lists
from attnbook.decoding import greedy
from attnbook.training import save_checkpoint
from attnruns.experiments import numbers
from attnruns.experiments.numbers import build
from attnruns.readme_picture import NUMBERS, draw_readme, main


@pytest.fixture(scope="module")
def task():
    return number_lists(train=10, validation=1, test_per_size=1, longer=())


@pytest.fixture
def model(task):
    """An untrained model that never ends before its first word: there is no picture of nothing."""
    model = build("attention", task)
    with torch.no_grad():
        model.output.bias[EOS] = -100.0
    return model


def test_the_picture_is_small_enough_for_a_page(task, model, tmp_path):
    draw_readme(model, task, tmp_path / "picture.png")
    picture = (tmp_path / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 150_000


def attended(of):
    """What the trained model writes for a list, each word with the position of its largest weight, and the example."""
    example, task = number_list(of), numbers.task()
    batch = task.collate([example])
    tokens, weights = greedy(numbers.trained("attention").cpu(), batch.source, batch.lengths, max_length=30)
    words = task.target_vocabulary.decode(tokens[0])
    return example, list(zip(words, weights[0, : len(words)].argmax(dim=-1).tolist(), strict=True))


@pytest.mark.slow
def test_each_row_of_the_picture_has_its_largest_weight_at_a_true_link():
    example, written = attended(NUMBERS)
    assert [word for word, _ in written] == list(example.target)
    links = {(position, row) for row, (_, position) in enumerate(written)}
    assert example.sure <= links <= example.possible


@pytest.mark.slow
@pytest.mark.parametrize("of", [(342,), (342, 7, 85), (7, 342), (800, 1, 99), (12, 415, 3)])
def test_the_word_for_hundred_attends_elsewhere_and_is_right_as_the_title_page_says(of):
    example, written = attended(of)
    assert [word for word, _ in written] == list(example.target)
    assert dict(written)["hundert"] != example.source.index("hundred")


@pytest.mark.slow
def test_the_command_draws_from_stored_weights(model, tmp_path):
    weights, out = tmp_path / "weights.pt", tmp_path / "picture.png"
    save_checkpoint(weights, model={name: part.half() for name, part in model.state_dict().items()})
    main(["--weights", str(weights), "--out", str(out)])
    assert out.stat().st_size > 1000


def test_a_model_that_does_not_look_is_refused(task, tmp_path):
    with pytest.raises(ValueError, match="PlainSeq2Seq has no attention weights"):
        draw_readme(build("plain", task), task, tmp_path / "picture.png")
