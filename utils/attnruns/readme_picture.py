"""The picture on the README and the landing page, drawn again by ``python -m attnruns.readme_picture``.

``--narrow --out book/_static/readme_alignment_narrow.png`` draws its form for phones. It shows the model of chapter 02,
from the weights that ``python -m attnbook.experiments numbers`` leaves, on a list where its largest weights lie at the
true links; chapter 02 shows others, where they do not.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt

from attnbook.data import number_list
from attnbook.data.batching import Task
from attnbook.decoding import DecoderModule, greedy
from attnbook.training import load_checkpoint
from attnpages.figures.alignments import plot_alignment
from attnpages.figures.style import new_axes, use_book_style
from attnruns.experiments.numbers import build, task

NUMBERS = (42, 85, 7)  # each sure link has the largest weight of its row
NARROW = (4.25, 4.6)  # inches: on a phone 358 pixels wide, so that letters of 10 points are 12 pixels high


def draw_readme(model: DecoderModule, task: Task, path: Path, size: tuple[float, float] | None = None) -> None:
    """Let the model translate :data:`NUMBERS` and store its attention weights as a PNG.

    Args:
        size: of the picture in inches, such as :data:`NARROW`; ``None`` takes what its words need, some 1,000 pixels.

    Raises:
        ValueError: if the model has no attention, so that there is nothing to draw.
    """
    example = number_list(NUMBERS)
    batch = task.collate([example])
    tokens, weights = greedy(model, batch.source, batch.lengths, max_length=2 * batch.target.shape[1])
    if weights is None:
        raise ValueError(f"{type(model).__name__} has no attention weights to draw; give an AttentionSeq2Seq")
    words = task.target_vocabulary.decode(tokens[0])
    use_book_style()
    ax = new_axes(None, size) if size is not None else None
    plot_alignment(weights[0, : len(words)], example.source, words, truth=example.sure, ax=ax)
    plt.savefig(path)
    plt.close()


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, load the weights, draw."""
    parser = argparse.ArgumentParser(prog="python -m attnruns.readme_picture", description=__doc__)
    parser.add_argument("--weights", type=Path, default=Path("results/weights/numbers_attention_0.pt"))
    parser.add_argument("--out", type=Path, default=Path("book/_static/readme_alignment.png"))
    parser.add_argument("--narrow", action="store_true", help="draw the form for phones")
    options = parser.parse_args(arguments)
    model = build("attention", task())
    model.load_state_dict(load_checkpoint(options.weights)["model"])
    draw_readme(model.eval(), task(), options.out, NARROW if options.narrow else None)


if __name__ == "__main__":
    main()
