"""Counting what the course holds."""

from nbformat import from_dict

from coursekit.mistakes.known import Known
from coursekit.project import Project
from coursekit.status import chapter_row, lab_row, plain, status_places, table

KNOWN = Known(2, {"axis": "You …", "scale": "You …", "sign": "You …"})


def test_a_chapter_is_counted(project, change):
    picture = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {}}
    change(project.chapters[0], lambda cells, _: cells["draw"].update(outputs=[from_dict(picture)]))
    row = chapter_row(project, project.chapters[0])
    assert row._asdict() == {
        "title": "Sums", "file": "chapters/01_counting.ipynb", "reading": 1, "solving": 5, "words": 4,
        "figures": 1, "claims": 1, "exercises": 1,
    }  # fmt: skip


def test_the_definition_of_claim_is_no_claim(project):
    assert chapter_row(project, project.chapters[0]).claims == 1


def test_a_lab_is_counted_with_its_checks(project):
    row = lab_row(project, project.labs[0], {"double": KNOWN, "square": KNOWN})
    assert (row.exercises, row.points, row.properties, row.mistakes) == (2, 5, 4, 6)


def test_a_lab_without_checks_knows_no_mistakes(project):
    assert lab_row(project, project.labs[0], {}).mistakes == 0


def test_the_table_sums_its_columns_and_links_its_pages(project):
    row = lab_row(project, project.labs[0], {})
    lines = table(["Lab", "Minutes", "Exercises", "Points", "Properties", "Mistakes"], [row, row])
    assert lines[2].startswith("| [Sums](../labs/lab01_sums/lab01_sums.ipynb) | 10 | 2 | 5 |")
    assert lines[-1] == "| **All 2** | 20 | 4 | 10 | 0 | 0 |"


def test_tables_are_the_same_each_time_and_readable_in_a_terminal(project):
    tables = status_places(project)
    assert tables == status_places(project)
    assert "| Sums | 1 | 5 |" in plain(tables["chapters"])
    assert "](" not in plain(tables["chapters"] + tables["labs"])


def test_an_empty_course_has_empty_tables(tmp_path):
    assert {name: len(made.splitlines()) for name, made in status_places(Project(tmp_path)).items()} == {
        "chapters": 2, "labs": 2,
    }  # fmt: skip
