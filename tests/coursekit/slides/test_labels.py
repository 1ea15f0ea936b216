"""Roles and labels as plain words."""

import pytest

from coursekit.slides.labels import Labels, names_of

BIB = """\
@article{one2001,
  author = {Lebr{\\'o}n, Ana},
  year = {2001}
}

@article{two2002,
  author = {One, A. and Two, B.},
  year = {2002}
}

@article{three2003,
  author = {One, A. and Two, B. and Three, C.},
  year = {2003}
}
"""


@pytest.fixture
def labels(project, change) -> Labels:
    (project.root / "book").mkdir()
    (project.root / "book" / "references.bib").write_text(BIB, encoding="utf-8")
    text = "(sec-sum)=\n# Count\n\n$$\na\n$$ (eq-sum)\n\n:::{table} Numbers.\n:name: tab-sum\n\n| a |\n|:--|\n:::"
    change(project.chapters[0], lambda cells, _: cells["title"].update(source=text))
    return Labels(project.root)


@pytest.mark.parametrize("text, words", [
    ("{numref}`fig-line` and {eq}`eq-sum`", "Figure 1.1 and (1.1)"),
    ("{numref}`tab-sum`, {ref}`sec-sum`, {ref}`there <sec-sum>`", "Table 1.1, Count, there"),
    ("{term}`weight` and {term}`weights <weight>`", "weight and weights"),
    ("{cite:t}`one2001` and {cite:t}`two2002`", "Lebrón (2001) and One and Two (2002)"),
    ("shown {cite:p}`three2003,one2001`", "shown (One et al., 2003; Lebrón, 2001)"),
    ("[Chapter 2](02_more.ipynb) and [PyTorch](https://pytorch.org)", "Chapter 2 and [PyTorch](https://pytorch.org)"),
    ("{ref}`unknown` {cite:t}`nobody`", "unknown nobody ()"),
    ("$$\na\n$$ (eq-sum)", "$$\na\n$$"),
])  # fmt: skip
def test_a_role_becomes_what_a_reader_of_the_book_sees(labels, text, words):
    assert labels.plain(text) == words


def test_others_are_not_a_name():
    assert names_of("One, A. and others") == "One et al."
