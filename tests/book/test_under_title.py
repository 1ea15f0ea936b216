"""What stands under a chapter's title: the model in one file, which is made when the book is built."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from loaded import loaded
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from coursekit.notebooks import read, write
from coursekit.standalone import file_of

BODY = '<h1>A line</h1>\n<p class="open-notebook"><a href="x">Open the notebook</a></p><p>Text.</p>'
NAME = "chapters/02_line"


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/under_title.py")


@pytest.fixture
def page(extension, tmp_path):
    """page(tags): the body of a chapter's page whose cell of code has these tags, and the folder that was built."""

    def make(*tags, name=NAME):
        cells = [new_markdown_cell("# A line"), new_code_cell("x = 1\nprint(x)", metadata={"tags": list(tags)})]
        write(new_notebook(cells=cells, metadata={"attnbook": {"title": "A line"}}), tmp_path / f"{name}.ipynb")
        app = SimpleNamespace(srcdir=tmp_path, outdir=tmp_path / "html")
        context = {"body": BODY, "pathto": lambda target, _: f"../{target}"}
        extension.add_under_title(app, name, "page.html", context, object())
        return BeautifulSoup(context["body"], "html.parser")

    return make


def test_a_chapter_with_a_model_offers_it_behind_its_notebook(page, tmp_path):
    notebook, model = page("standalone").select("h1 ~ p.open-notebook")
    assert notebook.a.get_text() == "Open the notebook"
    assert model.get_text() == "The model in one file 2 lines: runs with PyTorch alone"
    assert model.a.attrs == {"href": "../_static/standalone/02_line.py", "download": "02_line.py"}
    path = tmp_path / f"{NAME}.ipynb"
    assert (tmp_path / "html/_static/standalone/02_line.py").read_text("utf-8") == file_of(path, read(path))


def test_a_chapter_without_one_offers_none(page, tmp_path):
    assert len(page("hide-input").select("p.open-notebook")) == 1
    assert not (tmp_path / "html").exists()


def test_other_pages_are_left_alone(page):
    assert str(page("standalone", name="labs/lab02_line")) == BODY


@pytest.mark.book
def test_the_built_book_offers_the_file_of_each_chapter_that_has_one(root, html):
    from coursekit.project import Project
    from coursekit.standalone import tagged

    for path in Project(root).chapters:
        body = BeautifulSoup((html / f"chapters/{path.stem}.html").read_text(encoding="utf-8"), "html.parser")
        links = [one["href"] for one in body.select('p.open-notebook a[download$=".py"]')]
        wanted = [f"../_static/standalone/{path.stem}.py"] if tagged(read(path)) else []
        assert links == wanted, path.stem
        assert all((html / "chapters" / link).resolve().is_file() for link in links)
