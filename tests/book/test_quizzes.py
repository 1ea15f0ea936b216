"""The quizzes: each answer is right, each mistake has its words, each link its target, and the pages work."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from loaded import loaded
from quiz_answers import NUMBERS, TEXTS
from without_a_lab import has_a_lab

from coursekit.project import is_evidence


@pytest.fixture(scope="module")
def quizzes(root):
    """{chapter: its questions}."""
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in root.glob("book/quizzes/*.yml")}


@pytest.fixture(scope="module")
def extension(root):
    return loaded(root / "book/_ext/quizzes.py")


@pytest.fixture(scope="module")
def questions(extension, quizzes):
    """{"02/weight": question}."""
    return {f"{extension.short_name(name)}/{one['id']}": one for name, every in quizzes.items() for one in every}


@pytest.fixture(scope="module")
def chapters(root):
    """{chapter: all that stands in its notebook, the outputs too}."""
    found = {}
    for path in root.glob("chapters/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = (text for cell in cells for output in cell.get("outputs", ()) for text in output.get("text", ()))
        found[path.stem] = "\n".join(["".join(cell["source"]) for cell in cells]) + "\n" + "".join(outputs)
    return found


def heading(name: str) -> str:
    """The heading of the quiz of a chapter or a page."""
    of = "the evidence for Chapter" if is_evidence(Path(name)) else "Chapter"
    return f"Quiz on {of} {int(name[:2])}"


# --- what is asked --------------------------------------------------------------------------------


def test_each_chapter_but_the_map_has_five_or_six_questions_and_evidence_may_have(quizzes, chapters):
    needed = {name for name in chapters if name[:2] != "00" and not is_evidence(Path(name))}
    assert needed <= set(quizzes) <= set(chapters)
    assert {name: len(every) for name, every in quizzes.items() if len(every) not in (5, 6)} == {}


def test_each_quiz_stands_on_the_page_of_its_part_under_its_chapters_title(root, quizzes, toc_parts):
    pages = {path.stem: path.read_text(encoding="utf-8") for path in root.glob("book/quizzes/*.md")}
    parts = [files for caption, files in toc_parts if caption.startswith("Part ")]
    for name in quizzes:
        chapter = f"chapters/{name.removesuffix('_evidence')}"
        part = next(place for place, files in enumerate(parts, start=1) if chapter in files)
        notebook = json.loads((root / f"chapters/{name}.ipynb").read_text(encoding="utf-8"))
        link = f"[{notebook['metadata']['attnbook']['title']}](../../chapters/{name}.ipynb)"
        wanted = rf"## {heading(name)}\n\n[^\n]*{re.escape(link)}[^\n]*\n\n```{{quiz}} {name}\n```"
        assert re.search(wanted, pages[f"part{part}"]), name
    assert sum(page.count("```{quiz}") for page in pages.values()) == len(quizzes)
    listed = [files for caption, files in toc_parts if caption == "Quizzes"]
    assert listed == [[f"book/quizzes/{name}" for name in sorted(pages)]]


def test_each_chapter_ends_with_a_link_to_its_quiz(root, quizzes, chapters):
    for name in quizzes:
        wanted = r"\[quiz on this (?:chapter|page)\]\(\.\./(book/quizzes/part\d\.md)#([\w-]+)\)"
        link = re.search(wanted, chapters[name])
        assert link, name
        assert link[2] == heading(name).lower().replace(" ", "-"), name
        assert f"```{{quiz}} {name}\n" in (root / link[1]).read_text(encoding="utf-8"), name
        before = "## The lab\n" if has_a_lab(name) else "## Exercises\n"
        assert before in chapters[name][: link.start()], name


def test_each_question_has_what_a_form_needs(questions):
    for name, one in questions.items():
        known = {"id", "ask", "again", "measured", *(("number", "within", "unit", "why", "not") if "number" in one
                                                 else ("choices", "several"))}  # fmt: skip
        assert set(one) <= known, name
        assert {"id", "ask", "again"} <= set(one), name
        if "choices" in one:
            right = sum("right" in choice for choice in one["choices"])
            assert len(one["choices"]) >= 3, name
            assert right >= 2 if one.get("several") else right == 1, name
            assert all(set(choice) in ({"right", "why"}, {"wrong", "why"}) for choice in one["choices"]), name
        else:
            assert len(one["not"]) >= 2, name


def test_every_wrong_answer_has_a_sentence_of_its_own(questions):
    said = [words["why"] for one in questions.values() for words in [*one.get("choices", ()), *one.get("not", ())]]
    assert [why for why in said if len(why.split()) < 5 or why[-1] != "."] == []


def test_no_known_mistake_is_taken_for_the_right_number(questions):
    for name, one in questions.items():
        for known in one.get("not", ()):
            apart = abs(known["number"] - one["number"])
            assert apart > one.get("within", 0) + max(one.get("within", 0), 0.002 * abs(known["number"])), name


def test_ids_stand_once(questions, quizzes):
    assert len(questions) == sum(map(len, quizzes.values()))


# --- the answers ----------------------------------------------------------------------------------


def test_every_number_is_computed(questions):
    assert {name for name, one in questions.items() if "number" in one} == set(NUMBERS)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_the_number_is_what_the_package_computes(questions, name):
    torch.manual_seed(0)
    one = questions[name]
    assert float(NUMBERS[name]()) == pytest.approx(one["number"], abs=max(one.get("within", 0), 1e-9))


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_right_choice_is_what_the_package_computes(questions, name):
    right = next(choice["right"] for choice in questions[name]["choices"] if "right" in choice)
    assert right == TEXTS[name]()


def test_the_numbers_that_a_question_rests_on_stand_in_its_chapter(quizzes, chapters):
    rests = [(name, number) for name, every in quizzes.items() for one in every for number in one.get("measured", ())]
    assert [(name, number) for name, number in rests if number not in chapters[name]] == []
    assert all(any(sign.isdigit() for sign in number) for _, number in rests)


def test_what_one_should_read_again_is_in_the_chapter(extension, quizzes, chapters):
    for name, every in quizzes.items():
        for one in every:
            label = re.fullmatch(r"\{ref\}`((?:sec|ex)-(\d\de?)-[\w-]+)`", one["again"])
            link = re.fullmatch(r"\[(.+)\]\(\.\./\.\./chapters/(\w+)\.ipynb#([\w-]+)\)", one["again"])
            if label:
                assert label[2] == extension.short_name(name)
                assert f"({label[1]})=" in chapters[name] or f":label: {label[1]}" in chapters[name], one["again"]
            else:
                assert link[2] == name
                assert re.search(rf"^#+ {re.escape(link[1])}$", chapters[name], re.MULTILINE), one["again"]
                assert link[3] == re.sub(r"[^\w -]", "", link[1].lower()).replace(" ", "-")


def test_a_wrong_number_would_be_found(questions):
    assert NUMBERS["02/weight"]() != pytest.approx(1.0)
    assert math.isfinite(questions["02/weight"]["number"])


# --- the form -------------------------------------------------------------------------------------


def rendered(extension, node):
    """The HTML of a tree of elements, as Sphinx would write it."""
    body, translator = [], SimpleNamespace()
    translator.body = body

    def walk(one):
        if isinstance(one, extension.Html):
            extension.visit_html(translator, one)
            for child in one.children:
                walk(child)
            extension.depart_html(translator, one)
        else:
            body.append(one.astext())

    walk(node)
    return "".join(body)


def test_elements_are_written_with_their_attributes(extension):
    field = extension.element("input", type="radio", data_kind='a "b"', checked=True, hidden=False)
    assert rendered(extension, extension.element("p", "So ", field, class_="x", for_="y")) == (
        '<p class="x" for="y">So <input type="radio" data-kind="a &quot;b&quot;" checked></p>'
    )


def test_answers_are_listed_with_their_reasons(extension):
    chosen = extension.answers_of({"choices": [{"right": "A", "why": "a."}, {"wrong": "B", "why": "b."}]})
    assert [(one["text"], one["right"], one["key"]) for one in chosen] == [
        ("A", True, {"data_choice": "a"}), ("B", False, {"data_choice": "b"})]  # fmt: skip
    counted = extension.answers_of({"number": 3, "unit": "bits", "why": "x.", "not": [{"number": 4, "why": "y."}]})
    assert [(one["text"], one["right"], one["why"], one["key"]) for one in counted] == [
        ("3 bits", True, "x.", {"data_number": "3"}), ("4 bits", False, "y.", {"data_number": "4"})]  # fmt: skip


def test_nothing_is_loaded_or_sent(root):
    for name in ("quiz.js", "quiz.css"):
        text = (root / "book/_static" / name).read_text(encoding="utf-8")
        assert not re.search(r"https?:|fetch\(|XMLHttp|localStorage|sendBeacon|@import|url\(", text)
