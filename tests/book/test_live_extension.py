"""The extension of the book that turns static figures live."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from loaded import loaded_beside


@pytest.fixture(scope="module")
def live(root):
    with loaded_beside(root / "book/_ext/live_figures.py") as module:
        yield module


def page(*figures, metadata):
    root = nodes.section()
    root += nodes.container("", *figures, cell_metadata=metadata)
    return root


def app_of(docname="chapters/02_a"):
    return SimpleNamespace(env=SimpleNamespace(docname=docname))


def test_a_cells_figure_moves_into_the_live_one(live):
    figure, app = nodes.figure(ids=["fig-a"]), app_of()
    doctree = page(figure, metadata={"live": "query"})
    live.take_figures_in(app, doctree)
    assert isinstance(figure.parent, live.LiveFigure)
    assert figure.parent["live"] == "query"
    assert app.env.live_figures == {"chapters/02_a": ["query"]}


def test_a_cell_may_say_how_its_figure_begins(live):
    figure = nodes.figure()
    live.take_figures_in(app_of(), page(figure, metadata={"live": {"figure": "query", "start": 'names:a "b"'}}))
    assert (figure.parent["live"], figure.parent["start"]) == ("query", 'names:a "b"')
    builder = SimpleNamespace(current_docname="chapters/02_a", app=SimpleNamespace(srcdir="."))
    translator = SimpleNamespace(builder=builder, body=[])
    live.visit(translator, figure.parent)
    assert 'data-start="names:a &quot;b&quot;"' in translator.body[0]


def test_a_page_without_one_loads_no_scripts(live):
    app = app_of()
    live.take_figures_in(app, page(nodes.figure(), metadata={"tags": ["hide-input"]}))
    assert app.env.live_figures == {"chapters/02_a": []}


def test_an_unknown_name_says_which_there_are(live):
    with pytest.raises(
        ValueError, match=r"a cell of chapters/02_a asks for the live figure 'quary'; there is: addressing, "
    ):
        live.take_figures_in(app_of(), page(nodes.figure(), metadata={"live": "quary"}))


def test_a_cell_without_a_figure_is_named(live):
    with pytest.raises(ValueError, match="'query', and draws no figure with a caption"):
        live.take_figures_in(app_of(), page(nodes.paragraph(), metadata={"live": "query"}))


def test_what_another_process_read_is_taken_over_and_a_page_read_anew_is_forgotten(live):
    env, other = (
        SimpleNamespace(live_figures={"a": ["query"]}),
        SimpleNamespace(live_figures={"b": ["tape"], "c": ["beam"]}),
    )
    live.merge(None, env, {"b"}, other)
    assert env.live_figures == {"a": ["query"], "b": ["tape"]}
    live.forget(None, env, "a")
    assert env.live_figures == {"b": ["tape"]}


def test_large_weights_wait_for_a_press_and_small_ones_do_not(live, root):
    sizes = {name: live.size(name, root / "results/weights") for name in live.FIGURES}
    assert sizes["translator"] > live.ON_A_PRESS
    assert sizes["smollm2_heads"] > live.ON_A_PRESS  # all of it text
    assert sizes["tape"] < live.ON_A_PRESS
    assert sizes["query"] == 0


def test_each_figure_has_a_script_and_each_script_is_a_figure(live, root):
    assert {path.stem for path in (root / "book/live/figures").glob("*.js")} == set(live.FIGURES)
    assert all((root / "book/live" / script).exists() for script in (*live.SCRIPTS, *live.files_of(live.FIGURES)))


def test_a_figure_loads_its_parts_once_and_no_script_is_left_over(live, root):
    files = live.files_of(["aligner", "bottleneck"])
    assert files[0] == "engine/attention.js"
    assert files[-2:] == ["figures/aligner.js", "figures/bottleneck.js"]
    assert len(files) == len(set(files))
    folder = root / "book/live"
    assert {*live.SCRIPTS, *live.files_of(live.FIGURES)} == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.js")
    }


def test_no_script_is_longer_than_a_reader_keeps_in_view(root):
    scripts = {path.name: path.read_text(encoding="utf-8") for path in (root / "book/live").rglob("*.js")}
    assert {name for name, text in scripts.items() if text.count("\n") > 300} == set()
