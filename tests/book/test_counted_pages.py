"""The pages that are filled with counts when the book is built."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from loaded import loaded

WITHOUT = "import sys; sys.modules.update(dict.fromkeys(['torch', 'numpy', 'tqdm', 'nbgrader'])); "


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/counted_pages.py")


def test_each_place_is_filled_and_each_count_has_its_place(root, extension):
    for docname, places in extension.PLACES.items():
        text = (root / f"{docname}.md").read_text(encoding="utf-8")
        assert set(extension.PLACE.findall(text)) == set(places(extension.Project(root))), docname
        assert "{{" not in extension.filled(docname, text), docname


def test_a_place_of_another_name_is_refused(extension):
    with pytest.raises(KeyError, match="chapter"):
        extension.filled("book/status", "{{ chapter }}")


def test_a_page_is_built_anew_when_what_it_counts_changes(root, extension):
    read, source = [], ["{{ chapters }}"]
    app = SimpleNamespace(env=SimpleNamespace(note_dependency=read.append))
    extension.fill(app, "book/index", source)
    assert (source, read) == (["{{ chapters }}"], [])
    extension.fill(app, "book/status", source)
    assert source[0].startswith("| Chapter |")
    assert {str(root / "book/mistakes.json"), str(next(root.glob("chapters/00_*.ipynb")))} <= set(read)


@pytest.mark.slow
def test_whoever_only_reads_the_book_can_fill_them(root):
    shown = "print(counted_pages.filled('book/mistakes', '{{ mistakes }}'))"
    code = f"{WITHOUT}sys.path.insert(0, 'book/_ext'); import counted_pages; {shown}"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout.replace(",", "")) > 1000
