"""What the tests of figures share: no window, the book's style, and a look at what stands where."""

from collections.abc import Callable, Iterator
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

from attnpages.figures import use_book_style


@pytest.fixture(autouse=True)
def figures(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The book's style without a screen; afterwards no figure is left and the style is as before."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a plot function called plt.show(): the notebook decides when to show")

    plt.switch_backend("Agg")
    with mpl.rc_context():
        use_book_style()
        monkeypatch.setattr(plt, "show", refuse)
        yield
        plt.close("all")


def texts_of(ax: Axes) -> list[Text]:
    """All texts of the figure that a reader sees, those of ticks outside the axes left out."""
    figure = ax.get_figure(root=True)
    figure.canvas.draw()
    panels = [*figure.axes, *(child for panel in figure.axes for child in panel.child_axes)]
    texts: list[Text] = []
    for panel in panels:
        texts += [panel.title, panel._left_title, panel.xaxis.label, panel.yaxis.label, *panel.texts]
        texts += panel.get_legend().get_texts() if panel.get_legend() else []
        for axis in (panel.xaxis, panel.yaxis):
            low, high = sorted(axis.get_view_interval())
            for minor in (False, True):
                places = np.asarray(axis.get_ticklocs(minor=minor))
                labels = axis.get_ticklabels(minor=minor)
                texts += [label for place, label in zip(places, labels, strict=False) if low <= place <= high]
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.fixture
def looks_right() -> Callable[[Axes], None]:
    """``looks_right(ax)``: no text overlaps another, is cut off or under 10 points; x has a label."""

    def look(ax: Axes) -> None:
        texts = texts_of(ax)
        figure = ax.get_figure(root=True)
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
        for (one, box), (other, its_box) in combinations(boxes, 2):
            apart = box.padded(-0.5)  # a touch by half a pixel is none
            assert not apart.overlaps(its_box), f"{one!r} and {other!r} overlap"
        width, height = figure.canvas.get_width_height()
        for name, box in boxes:
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            assert inside, f"{name!r} is cut off: {box} in {width} x {height}"
        assert min(text.get_fontsize() for text in texts) >= 10
        assert ax.get_xlabel()
        assert figure.get_figwidth() <= 8

    return look


@pytest.fixture
def texts() -> Callable[[Axes], list[str]]:
    """``texts(ax)``: everything written in the figure."""
    return lambda ax: [text.get_text() for text in texts_of(ax)]
