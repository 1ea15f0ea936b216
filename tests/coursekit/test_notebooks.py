"""One canonical form for every notebook."""

import pytest
from nbformat import from_dict, v4

from coursekit import CourseError
from coursekit.notebooks import code_cells, has_tag, normalise, read, to_text, without_tag, write, write_bytes


def ran(*outputs: dict, count: int = 7, **metadata: object):
    cell = v4.new_code_cell("x", execution_count=count, outputs=[from_dict(out) for out in outputs], metadata=metadata)
    return v4.new_notebook(cells=[cell])


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def outputs_of(notebook) -> list:
    return normalise(notebook).cells[0].outputs


def test_stderr_is_dropped():
    assert outputs_of(ran(stream("warning", "stderr"), stream("words"))) == [stream("words")]


def test_widgets_are_dropped_with_their_fallback_text():
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "HBox()"}
    assert outputs_of(ran({"output_type": "display_data", "data": widget, "metadata": {}})) == []


def test_widget_state_is_dropped():
    notebook = ran()
    notebook.metadata["widgets"] = {"state": {"1": {}}}
    assert "widgets" not in normalise(notebook).metadata


def test_streams_cut_in_two_become_one():
    assert outputs_of(ran(stream("a\n"), stream("b\n"))) == [stream("a\nb\n")]


def test_what_a_progress_line_wrote_over_is_gone():
    assert outputs_of(ran(stream("10 %\r50 %\rdone\n"))) == [stream("done\n")]


def test_windows_line_ends_survive():
    assert outputs_of(ran(stream("a\r\nb\n"))) == [stream("a\r\nb\n")]


def test_counts_run_from_one():
    shown = {"output_type": "execute_result", "data": {"text/plain": "1"}, "metadata": {}, "execution_count": 41}
    notebook = v4.new_notebook(cells=[ran(shown, count=41).cells[0], v4.new_markdown_cell(""), ran(count=99).cells[0]])
    cells = code_cells(normalise(notebook))
    assert [cell.execution_count for cell in cells] == [1, 2]
    assert cells[0].outputs[0].execution_count == 1


def test_cells_that_did_not_run_have_no_count():
    notebook = v4.new_notebook(cells=[v4.new_code_cell("x")])
    assert normalise(notebook).cells[0].execution_count is None


def test_traces_of_tools_leave_and_authors_words_stay():
    notebook = ran(execution={"iopub.busy": "12:00"}, tags=["hide-input"], collapsed=True)
    notebook.metadata = from_dict({"attnbook": {"minutes": 5}, "colab": {}, "language_info": {"version": "3.11.7"}})
    done = normalise(notebook)
    assert done.cells[0].metadata == {"tags": ["hide-input"]}
    assert done.metadata.keys() == {"attnbook", "kernelspec", "language_info"}
    assert "version" not in done.metadata.language_info


def test_ids_are_kept_and_missing_ones_depend_on_the_source_alone():
    cells = [{"cell_type": "markdown", "metadata": {}, "source": s} for s in ("same", "same", "other")]
    cells.append({"cell_type": "markdown", "metadata": {}, "source": "named", "id": "mine"})
    notebook = from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    first, again = normalise(notebook), normalise(notebook)
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in again.cells]
    assert ids[3] == "mine"
    assert len(set(ids)) == 4


def test_normalising_twice_changes_nothing_and_the_input_stays():
    notebook = ran(stream("a"), stream("b", "stderr"))
    before = to_text(notebook)
    once = normalise(notebook)
    assert to_text(normalise(once)) == to_text(once)
    assert to_text(notebook) == before


def test_what_is_written_can_be_read(tmp_path):
    write(ran(stream("é\n")), tmp_path / "deep" / "x.ipynb")
    assert read(tmp_path / "deep" / "x.ipynb").cells[0].outputs[0].text == "é\n"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["x.ipynb"]


def test_a_write_that_fails_leaves_the_old_file_whole(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    path = tmp_path / "x"
    write_bytes(b"old", path)
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_bytes(b"new", path)
    assert path.read_bytes() == b"old"
    assert [left.name for left in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("content", ["", "{", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}'])
def test_a_broken_file_is_named(tmp_path, content):
    path = tmp_path / "broken.ipynb"
    path.write_text(content)
    with pytest.raises(CourseError, match=r"broken\.ipynb cannot be read as a notebook"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CourseError, match=r"none\.ipynb cannot be read"):
        read(tmp_path / "none.ipynb")


def test_a_tag_is_taken_from_a_copy_and_an_empty_list_of_tags_with_it():
    cells = [v4.new_code_cell(metadata={"tags": tags}) for tags in (["a", "b"], ["a"], ["b"])]
    notebook = v4.new_notebook(cells=cells)
    assert [dict(cell.metadata) for cell in without_tag(notebook, "a").cells] == [{"tags": ["b"]}, {}, {"tags": ["b"]}]
    assert has_tag(notebook.cells[0], "a")
