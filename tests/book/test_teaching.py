"""The teacher's guide: its links, syllabi, board plans and rubrics say what is so."""

import importlib.util
import json
import re
import sys

import pytest
import yaml

from coursekit.minutes import page_minutes

PAGES = ("guide", "lectures", "text_questions", "projects", "jupyterhub")
WITHOUT_LINKS: set[int] = set()  # chapters of which the lectures speak without links, because they are not in the book
BOARD = 45  # minutes


@pytest.fixture(scope="module")
def teaching(root):
    spec = importlib.util.spec_from_file_location("teaching_pages", root / "book/_ext/teaching_pages.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["teaching_pages"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["teaching_pages"]


@pytest.fixture(scope="module")
def texts(root):
    return {name: (root / f"book/teaching/{name}.md").read_text(encoding="utf-8") for name in PAGES}


@pytest.fixture(scope="module")
def labels(root):
    """Every label of a section and every name of a figure or table that a page may refer to."""
    found = set()
    for path in [*root.glob("chapters/*.ipynb"), *root.glob("book/*.md"), *root.glob("book/teaching/*.md")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            found |= {cell["metadata"].get("mystnb", {}).get("figure", {}).get("name") for cell in cells}
            text = "\n".join("".join(cell["source"]) for cell in cells)
        found |= set(re.findall(r"^\(([\w-]+)\)=", text, re.MULTILINE)) | set(re.findall(r"^:name: (\S+)", text, re.M))
    return found | {"tab-teaching-chapters", *(f"tab-syllabus-{name}" for name in ("six", "twelve", "fifteen"))}


@pytest.fixture(scope="module")
def lectures(texts):
    """The text of each chapter's lecture by its number."""
    parts = re.split(r"^\(lecture-(\d\d)\)=\n", texts["lectures"], flags=re.MULTILINE)[1:]
    return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


# --- links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_files_that_a_page_links_to_are_there(root, texts, name):
    links = re.findall(r"\]\(((?!https?:)[^)#\s]+)", texts[name])
    assert [link for link in links if not (root / "book/teaching" / link).resolve().is_file()] == []


@pytest.mark.parametrize("name", PAGES)
def test_labels_that_a_page_refers_to_are_there(texts, labels, name):
    used = set(re.findall(r"\{(?:numref|ref)\}`(?:[^`<]*<)?([\w-]+)>?`", texts[name]))
    assert used - labels == set()


def test_every_page_is_in_the_contents_before_the_solutions(toc_parts):
    captions = [caption for caption, _ in toc_parts]
    files = dict(toc_parts)["For teachers"]
    assert [f"book/teaching/{name}" for name in PAGES if f"book/teaching/{name}" not in files] == []
    assert captions.index("For teachers") < captions.index("Solutions of the labs")


def test_the_book_leads_to_the_guide_and_the_guide_back(root, texts):
    assert "](teaching/guide.md)" in (root / "book/how_to_use.md").read_text(encoding="utf-8")
    assert "{button-ref} teaching-guide" in (root / "book/index.md").read_text(encoding="utf-8")
    assert "{ref}`How to use this book <for-teachers>`" in texts["guide"]


def test_commands_that_the_pages_name_are_there(texts):
    from coursekit.cli import COMMANDS

    named = set(re.findall(r"\bcoursekit (?:--root \S+ )?([a-z]+)\b", "\n".join(texts.values())))
    assert named
    assert named <= set(COMMANDS)


# --- the graph and the syllabi ----------------------------------------------------------------------


def test_the_graph_is_that_of_the_map(teaching):
    from attnpages.figures.chapters.ch00 import ARROWS, CHAPTERS

    assert teaching.arrows() == ARROWS
    found = {number: one for number, one in teaching.chapters().items() if number}
    assert {number: (one.title, one.column, one.row) for number, one in found.items()} == {
        number: (one.title, one.column, one.row) for number, one in CHAPTERS.items()
    }
    assert all(f"Chapter {end} needs Chapter {start}" in teaching.graph() for start, end in ARROWS)


def test_minutes_are_those_of_the_notebooks(root, teaching):
    for one in teaching.chapters().values():
        if one.file:
            assert (one.reading, one.exercises) == page_minutes(root / one.file), one.number
            assert 10 <= one.reading <= 90, one.number
        if one.lab:
            about = json.loads((root / one.lab).read_text(encoding="utf-8"))["metadata"]["attnbook"]
            assert one.lab_minutes == about["minutes"]


def test_every_course_takes_what_its_chapters_need(teaching):
    for name, syllabus in teaching.plan()["syllabi"].items():
        taken = set()
        for week in syllabus["weeks"]:
            for number in week.get("read", []):
                assert teaching.needed(number) <= taken | set(week["read"]), (name, number)
                taken.add(number)
            assert set(week.get("labs", [])) <= taken, name
        assert set(teaching.plan()["must"]) <= taken, name


def test_what_every_course_takes_needs_nothing_else(teaching):
    must = set(teaching.plan()["must"])
    assert all(teaching.needed(number) <= must for number in must)


@pytest.mark.parametrize("name, weeks", [("six", 6), ("twelve", 12), ("fifteen", 15)])
def test_the_minutes_of_a_syllabus_add_up(teaching, name, weeks):
    rows = teaching.weeks(name)
    assert len(rows) == weeks
    assert all(row.meeting == teaching.plan()["meeting"] and 0 <= row.after <= 300 for row in rows)
    table = teaching.syllabus_table(name, "A caption")
    cells = [[cell.strip() for cell in line.split("|")[-4:-1]] for line in table.splitlines() if line.startswith("| ")]
    numbers = [[int(cell.replace(",", "")) for cell in row] for row in cells[1:]]
    assert [sum(column) for column in zip(*numbers[:-1], strict=True)] == numbers[-1]
    hours = int(re.search(r"\*\*All \d+ weeks, (\d+) hours", table)[1])
    assert abs(hours - sum(numbers[-1]) / 60) <= 0.5


def test_a_week_is_the_lecture_and_the_beginning_of_the_lab(teaching):
    plan = teaching.plan()
    assert plan["meeting"] == BOARD + plan["in_class"]
    first = teaching.weeks("six")[1]  # Chapter 2
    chapter = teaching.chapters()[2]
    assert first.before == chapter.reading
    assert first.after == chapter.lab_minutes - plan["in_class"] + plan["text_question"]


def test_sections_that_must_be_read_belong_to_the_week(teaching, labels):
    for syllabus in teaching.plan()["syllabi"].values():
        for week in syllabus["weeks"]:
            for label in week.get("sections", []):
                assert label in labels
                assert int(label[4:6]) in week["read"], label


def test_the_chapters_that_may_be_left_out_are_those_that_no_other_needs(teaching, texts):
    named = re.search(r"from which no arrow starts, such as ([\d, or]+)\.", texts["guide"])[1]
    starts = {start for start, _ in teaching.arrows()}
    written = {number for number, one in teaching.chapters().items() if one.file and number}
    assert {int(number) for number in re.findall(r"\d+", named)} == written - starts - WITHOUT_LINKS


def test_an_exchange_takes_a_chapter_that_no_star_marks(teaching, texts):
    rows = re.findall(r"^\| [^|]+ \| (Chapters? [^|]+) \| (Chapters? [^|]+) \|$", texts["guide"], re.MULTILINE)
    assert rows
    for takes, leaves in rows:
        left = {int(number) for number in re.findall(r"\d+", leaves)}
        assert not left & set(teaching.plan()["must"]), leaves
        assert not any(start in left for start, end in teaching.arrows() if start in left), "others need it"
        new = {int(number) for number in re.findall(r"\d+", takes.split(", after")[0])}
        after = {int(number) for number in re.findall(r"\d+", takes.partition(", after")[2])}
        before = after | new | set(teaching.plan()["must"])
        assert all(start in before for start, end in teaching.arrows() if end in new), takes


# --- lectures ---------------------------------------------------------------------------------------


def test_each_chapter_has_its_lecture(teaching, lectures):
    assert list(lectures) == sorted(teaching.chapters())
    for number, text in lectures.items():
        assert text.startswith(f"## Chapter {number}: ")
        one = teaching.chapters()[number]
        if number not in WITHOUT_LINKS:
            assert f"](../../{one.file})" in text
            assert not one.lab or f"](../../{one.lab})" in text


def test_each_lecture_has_its_parts_and_its_length(lectures):
    for number, text in lectures.items():
        for part in ("**Aim.**", "**Board, 45 minutes.**", "**Show", "**Provoke.**", "**At the end.**"):
            assert text.count(part) == 1, (number, part)
        words = len(re.sub(r"\{numref\}`[^`]*`|\]\([^)]*\)|\$[^$]*\$", " x ", text).split())
        assert 150 <= words <= 400, (number, words)


def test_the_minutes_of_a_board_plan_add_up(lectures):
    for number, text in lectures.items():
        plan = text.split("**Board")[1].split("**Show")[0]
        assert sum(int(minutes) for minutes in re.findall(r"^\d+\. \((\d+)\) ", plan, re.MULTILINE)) == BOARD, number


def test_each_lecture_shows_a_figure_of_its_chapter(lectures):
    for number, text in lectures.items():
        shown = re.findall(r"\{numref\}`fig-(\d\d)-", text)
        assert number in WITHOUT_LINKS or {int(one) for one in shown} == {number}


def test_each_misunderstanding_is_one_that_a_check_knows(lectures):
    from attnlabs import catalogue

    known = catalogue()
    for number, text in lectures.items():
        named = re.findall(r"\(`(lab\d\d)`, `(\w+)`: \*([^*]+)\*\)", text)
        assert number in WITHOUT_LINKS or len(named) == 1, number
        for lab, exercise, mistake in named:
            assert mistake in {one.name for one in known[lab][exercise].mistakes}, (number, mistake)


# --- text questions and projects --------------------------------------------------------------------


def test_each_lab_asks_its_text_question_and_the_page_shows_it_with_four_levels(root, teaching, texts):
    parts = re.split(r"^\(text-question-(\d\d)\)=\n", texts["text_questions"], flags=re.MULTILINE)[1:]
    questions = dict(zip(map(int, parts[::2]), parts[1::2], strict=True))
    labs = {number: one.lab for number, one in teaching.chapters().items() if one.lab or number in WITHOUT_LINKS}
    assert list(questions) == sorted(labs)
    for number, text in questions.items():
        assert number in WITHOUT_LINKS or f"](../../{labs[number]})" in text
        assert f"```{{text-question}} {number:02}\n```" in text
        shown = teaching.question(f"{number:02}")
        assert len(re.findall(r"^> \S", shown, re.MULTILINE)) == 1, number
        assert re.findall(r"^\| (\d) \| \S", shown, re.MULTILINE) == ["3", "2", "1", "0"], number
        asked = re.search(r"^> (.+)$", shown, re.MULTILINE)[1]
        released = json.loads((root / labs[number]).read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in released]
        answers = [i for i, cell in enumerate(released) if cell["id"] == f"lab{number:02}-text_question"]
        assert f"> {asked}\n" in sources[answers[0] - 1]
        assert sources[answers[0]] == "YOUR ANSWER HERE"
        assert sources[answers[0] + 1].startswith("## What you have built")


def test_the_milestones_are_those_of_the_syllabi(teaching, texts):
    rows = re.findall(r"^\| (M\d) \| [^|]+ \| (\d+) \|$", texts["projects"], re.MULTILINE)
    assert {name: int(minutes) for name, minutes in rows} == teaching.plan()["project"]
    for name in ("twelve", "fifteen"):
        weeks = teaching.plan()["syllabi"][name]["weeks"]
        assert [week["project"] for week in weeks if "project" in week] == ["M1", "M2", "M3", "M4"]


def test_the_points_of_the_rubric_add_up(texts):
    rubric = texts["projects"].split(":name: tab-project-rubric")[1].split("```")[0]
    best, *_ = re.findall(r"(\d+) points", rubric)
    criteria = [line for line in rubric.splitlines() if line.startswith("| ") and "points" not in line]
    said = int(re.search(r"points per criterion and level, (\d+) in all", texts["projects"])[1])
    assert len(criteria) * int(best) == said
    assert all(line.count("|") == 6 for line in criteria)


def test_the_shares_of_the_grade_add_up(texts):
    shares = re.search(r"One division that has these properties: ([^.]+)\.", texts["guide"])[1]
    assert sum(int(share) for share in re.findall(r"(\d+) %", shares)) == 100


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_code_of_a_project_runs(texts, number):
    code = re.findall(r"```python\n(.*?)```", texts["projects"], re.DOTALL)[number]
    code = re.sub(r"STEPS = \d+", "STEPS = 2", code)
    code = code.replace("longer_per_size=100", "longer_per_size=2, test_per_size=2")
    scope: dict = {}
    exec(code, scope)
    if number == 0:
        assert set(scope["run"]("rotary_cross_bias_window_4", 0)) >= {"20", "24", "30", "40"}
    elif number == 1:
        batch = scope["task"].collate(scope["task"].test[:3])
        found = scope["changed"](scope["trained"](0), batch, scope["mean_annotation"])
        assert found.shape == batch.target.shape
    else:
        assert {name: scope["run"](name, 0) > 0 for name in scope["builds"]} == {"LSTM": True, "Transformer": True}
        assert scope["text_loss"](scope["counts"], scope["task"], scope["task"].test).bits_per_character > 0


def test_the_plan_is_readable_yaml_without_minutes_of_chapters(root):
    text = (root / "book/teaching/syllabi.yml").read_text(encoding="utf-8")
    assert set(yaml.safe_load(text)) == {"meeting", "in_class", "text_question", "project", "must", "syllabi"}
