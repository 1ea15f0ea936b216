"""The reference: its tutorials run, its entries can be reached, and names in code lead to them."""

import re
import subprocess
import sys

import pytest
from loaded import loaded

from coursekit.project import Project


def blocks(root, page: str) -> list[tuple[str, str]]:
    """The kind and the text of each block of code on a page."""
    text = (root / "book/reference" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_lines_for_ones_own_project_print_what_the_page_shows(root, capsys):
    (code,) = [text for kind, text in blocks(root, "own_project") if kind == "python"]
    (shown,) = [text for kind, text in blocks(root, "own_project") if kind == "text"]
    exec(code, {})
    assert capsys.readouterr().out == shown
    assert len(code.splitlines()) <= 12


@pytest.mark.slow
def test_they_need_nothing_but_the_wheel(root, tmp_path):
    from alone import installed_alone
    from torch_alone import run_alone

    needs = installed_alone("attnbook", tmp_path)
    (code,) = [text for kind, text in blocks(root, "own_project") if kind == "python"]
    (tmp_path / "ten_lines.py").write_text(code, encoding="utf-8")
    assert run_alone(tmp_path / "ten_lines.py", tmp_path, needs, tmp_path / "site").printed.startswith("(2, 5, 32)")


def test_the_wheels_that_the_pages_name_are_those_of_this_version(root):
    import tomllib

    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for page, package in (("own_project", "attnbook"), ("own_check", "misread")):
        lines = dict(blocks(root, page))["bash"]
        assert f"./{package}-{version}-py3-none-any.whl" in lines
        assert f"./utils/{package} " in lines


def test_a_name_is_linked_once_a_cell_and_neither_behind_a_point_nor_as_an_argument(root):
    pages = loaded(root / "book/_ext/interface_pages.py")
    code = (
        '<div class="cell_input docutils container"><pre><span class="n">dot</span><span class="o">.</span>'
        '<span class="n">attend</span> <span class="n">attend</span><span class="o">=</span>'
        '<span class="n">attend</span> <span class="n">attend</span></pre></div><span class="n">attend</span>'
    )
    made = pages.linked(code, {"attend": "a.attend"}, lambda path: f"page.html#{path}")
    begin = '<a class="reference internal code-name" href="page.html#a.attend" aria-label="attend">'
    link = f'{begin}<span class="n">attend</span></a>'
    assert made.count(link) == 1
    assert f'<span class="o">=</span>{link} <span class="n">attend</span></pre>' in made


@pytest.mark.book
def test_each_entry_has_its_anchor_and_each_name_in_code_leads_to_one(root, html):
    from coursekit.interface.pages import Interface

    interface = Interface(Project(root))
    anchors = {}
    for path in set(interface.places.values()):
        page = interface.page_of(path)
        if page not in anchors:
            anchors[page] = set(
                re.findall(r'<dt [^>]*?id="([^"]+)"', (html / f"{page}.html").read_text(encoding="utf-8"))
            )
        assert path in anchors[page], path
    links = set()
    for page in (html / "chapters").glob("*.html"):
        links |= set(
            re.findall(r'code-name" href="\.\./(book/reference/\w+)\.html#([\w.]+)"', page.read_text(encoding="utf-8"))
        )
    assert len(links) > 150
    assert [link for link in links if link[1] not in anchors[link[0]]] == []


def test_the_reference_is_made_without_torch(root):
    code = "import sys; sys.modules['torch'] = None; from coursekit.interface.pages import Interface; import pathlib; "
    code += "from coursekit.project import Project; print(len(Interface(Project(pathlib.Path('.').resolve())).places))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert int(done.stdout) > 300, done.stderr
