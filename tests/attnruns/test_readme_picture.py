import pytest
import torch

from attnbook.data import EOS, number_lists
from attnbook.training import save_checkpoint
from attnruns.experiments.numbers import build
from attnruns.readme_picture import draw_readme, main


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


@pytest.mark.slow
def test_the_command_draws_from_stored_weights(model, tmp_path):
    weights, out = tmp_path / "weights.pt", tmp_path / "picture.png"
    save_checkpoint(weights, model={name: part.half() for name, part in model.state_dict().items()})
    main(["--weights", str(weights), "--out", str(out)])
    assert out.stat().st_size > 1000


def test_a_model_that_does_not_look_is_refused(task, tmp_path):
    with pytest.raises(ValueError, match="PlainSeq2Seq has no attention weights"):
        draw_readme(build("plain", task), task, tmp_path / "picture.png")
