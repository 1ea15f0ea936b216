"""The book's configuration and table of contents agree with what lies in the repository."""

import json
import re
from pathlib import Path

import pytest
import torch
import yaml
from without_a_lab import has_a_lab, is_page

from attnlabs import evaluate
from coursekit.edition import HURRY
from coursekit.project import is_evidence

FOLDERS = {"chapters": "chapters/*.ipynb", "labs": "labs/*/*.ipynb", "solutions": "solutions/*/*.ipynb"}
# What tex-chtml.js may fetch when a formula uses such a command (MathJax 3.2, its `autoload` table).
AUTOLOADED = (
    "action amscd bbox boldsymbol braket bussproofs cancel cases centernot color colorv2 colortbl empheq "
    "enclose extpfeil gensymb html mathtools mhchem newcommand noundefined physics require textcomp "
    "textmacros unicode upgreek verb"
)


def notebooks(root, folder):
    found = (path.relative_to(root).with_suffix("").as_posix() for path in root.glob(FOLDERS[folder]))
    return sorted(name for name in found if ".ipynb_checkpoints" not in name)


def test_every_page_of_the_contents_exists(root, toc_files):
    there = {name for name in toc_files for end in (".md", ".ipynb") if (root / (name + end)).exists()}
    assert set(toc_files) - there == set()


def test_no_page_is_listed_twice(toc_files):
    assert len(toc_files) == len(set(toc_files))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_notebook_is_in_the_contents_in_order(root, toc_files, folder):
    listed = [name for name in toc_files if name.startswith(folder + "/")]
    assert sorted(listed) == notebooks(root, folder)
    numbered = [name for name in listed if not is_page(Path(name).name)]
    assert numbered == sorted(numbered)


def test_evidence_is_a_part_of_its_own_behind_the_quizzes(toc_parts):
    captions = [caption for caption, _ in toc_parts]
    place = captions.index("Evidence for the chapters")
    assert captions[place - 1 : place + 2] == ["Quizzes", "Evidence for the chapters", "For teachers"]
    first, *pages = toc_parts[place][1]
    assert first == "book/evidence"
    assert pages == sorted(pages)
    assert set(pages) == {file for _, files in toc_parts for file in files if is_evidence(Path(file))}


def test_a_page_has_no_number_in_the_contents(root):
    parts = yaml.safe_load((root / "book/_toc.yml").read_text(encoding="utf-8"))["parts"]
    listed = [
        (name, part.get("numbered", False))
        for part in parts
        for name in (one["file"] for one in part["chapters"])
        if name.startswith("chapters/")
    ]
    assert {name: numbered for name, numbered in listed if numbered == is_page(Path(name).name)} == {}


def test_every_page_of_the_book_folder_is_in_the_contents(root, toc_files):
    pages = {path.relative_to(root).with_suffix("").as_posix() for path in (root / "book").glob("*.md")}
    assert pages <= set(toc_files)


def test_each_chapter_is_followed_by_its_lab(toc_files):
    for place, name in enumerate(toc_files):
        if name.startswith("chapters/"):
            chapter = name.removeprefix("chapters/")
            if has_a_lab(chapter):
                assert toc_files[place + 1].startswith(f"labs/lab{chapter[:2]}_"), f"after {name}"


def test_each_lab_has_its_solution(toc_files):
    labs = [name.removeprefix("labs/") for name in toc_files if name.startswith("labs/")]
    solutions = [name.removeprefix("solutions/") for name in toc_files if name.startswith("solutions/")]
    assert labs == solutions


def test_the_title_page_has_a_card_for_each_chapter_that_is_here_and_none_for_evidence(root, toc_files):
    text = (root / "book/index.md").read_text(encoding="utf-8")
    cards = re.findall(r":::\{grid-item-card\} (.*?)\n:link: \.\./(chapters/.*?)\n:link-type: doc\n\n[^\n]+\n:::", text)
    chapters = [name for name in toc_files if name.startswith("chapters/") and not is_evidence(Path(name))]
    titles = [
        json.loads((root / f"{name}.ipynb").read_text(encoding="utf-8"))["metadata"]["attnbook"]["title"]
        for name in chapters
    ]
    numbers = ["" if is_page(Path(name).name) else f"{int(Path(name).name[:2])}. " for name in chapters]
    wanted = [(number + title, name) for number, title, name in zip(numbers, titles, chapters, strict=True)]
    assert cards == wanted


TYPED = re.compile(r"^\d+ minutes$|Reading takes (?:about )?\d+", re.MULTILINE)


def test_nobody_types_in_how_long_a_chapter_takes(root):
    """`coursekit.minutes` computes it, for the line under the title, the cards, the status page and the syllabi."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in root.glob("chapters/*.ipynb")}
    typed = {name for name, text in texts.items() if TYPED.search(text) or '"minutes":' in text}
    assert typed == set()
    assert not TYPED.search((root / "book/index.md").read_text(encoding="utf-8"))


def test_the_evening_on_the_title_page_takes_as_long_as_the_chapters_lines_say(root):
    text = (root / "book/index.md").read_text(encoding="utf-8")
    evening = re.findall(r"^\| \[.*?\]\(\.\./(chapters/.*?\.ipynb)\) \| (\d+) \|", text, re.MULTILINE)
    lines = [HURRY.search((root / name).read_text(encoding="utf-8"))[0] for name, _ in evening]
    assert [minutes for _, minutes in evening] == [re.search(r"\((\d+) minutes\)", line)[1] for line in lines]
    takes = [int(minutes) for _, minutes in evening]
    assert 80 <= sum(takes) <= 100  # an hour and a half
    assert 65 <= sum(takes) - takes[1] <= 80  # little more than an hour, without Chapter 1


def test_the_title_page_and_the_readme_show_what_the_check_says(root):
    def masked_softmax(scores, mask):
        return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=1).nan_to_num()

    message = evaluate("lab02", "masked_softmax", masked_softmax).message
    assert message in (root / "README.md").read_text(encoding="utf-8")
    title_page = (root / "book/index.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", title_page, re.DOTALL)[1]
    assert sorted(shown.split()) == sorted(message.split())  # its lines are shorter there, for phones


def test_what_the_configuration_names_exists(root, config):
    static = config["sphinx"]["config"]["html_static_path"]
    named = [config["logo"], config["html"]["favicon"], *config["bibtex_bibfiles"], *static]
    named += [f"book/{folder}/{name}.py" for name, folder in config["sphinx"]["local_extensions"].items()]
    named += [f"{static[0]}/{config['sphinx']['config']['mathjax_path']}", f"{static[0]}/custom.css"]
    assert [name for name in named if not (root / name).exists()] == []


def test_building_runs_no_notebook(config):
    assert config["execute"]["execute_notebooks"] == "off"  # unquoted, YAML would read it as False


def test_building_leaves_the_environment_alone(config):
    assert ".venv/**" in config["exclude_patterns"]


def test_no_part_of_the_configuration_loads_from_outside(root, config):
    assert "://" not in config["sphinx"]["config"]["mathjax_path"]
    assert config["sphinx"]["config"]["nb_ipywidgets_js"] == {}
    assert "paying_attention_book" in config["sphinx"]["local_extensions"]
    for name in ("custom.css", "quiz.css", "reading.js", "search.js", "quiz.js"):
        assert "://" not in (root / "book/_static" / name).read_text(encoding="utf-8")


def test_mathjax_is_complete(root):
    mathjax = root / "book/_static/mathjax"
    assert "3.2.2" in (mathjax / "tex-chtml.js").read_text(encoding="utf-8")
    assert "Apache License" in (mathjax / "LICENSE").read_text(encoding="utf-8")
    extensions = {path.stem for path in (mathjax / "input/tex/extensions").glob("*.js")}
    assert set(AUTOLOADED.split()) <= extensions
    assert len(list((mathjax / "output/chtml/fonts/woff-v2").glob("*.woff"))) == 23


def test_the_mark_is_drawn_without_fonts_or_outside_parts(root):
    for name in ("logo.svg", "favicon.svg", "one_sentence.svg", "one_sentence_narrow.svg"):
        drawing = (root / "book/_static" / name).read_text(encoding="utf-8")
        assert "<title>" in drawing
        assert re.findall(r"https?://[^\"]*", drawing) == ["http://www.w3.org/2000/svg"]
