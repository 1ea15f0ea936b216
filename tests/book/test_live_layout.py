"""Live figures as phones and desks show them: nothing wider than the frame, rows as high as a finger, few tab stops."""

import pytest
from browser import chromium
from live_pages import PAGES, ROOT, answer, asked, files_of, live_weights, scripts

STARTS = sorted({found for page in PAGES for found in asked(page)})
NAMES = [name for name, _ in STARTS]
BEGUN = [f"{name} {start[:12]}".strip() for name, start in STARTS]  # each name and start is one figure
ROBOT, LAYOUT = ((ROOT / f"tests/helpers/live_{name}.js").read_text(encoding="utf-8") for name in ("robot", "layout"))
LIVE = ROOT / "book/live"
WIDTHS = ["390", "1000"]
MOST_STOPS = 18  # of the Tab key, from a figure's first control to its link

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    """What frames of two widths showed of each figure, by width."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    files = [*scripts(), *files_of(dict.fromkeys(NAMES))]
    head = "<style>* { box-sizing: border-box; }</style>"  # as the theme has it
    for style in (ROOT / "book/_static/custom.css", LIVE / "live.css"):
        head += f'<link rel="stylesheet" href="{style.as_uri()}">'
    head += "".join(f'<script src="{(LIVE / file).as_uri()}"></script>' for file in files)
    given = {"robot": ROBOT, "head": head, "figures": STARTS, "widths": WIDTHS}
    script = """
        const found = {};
        for (const width of GIVEN.widths) { found[width] = await laidOut(GIVEN.figures, width); }
        return found;"""
    return answer(tmp_path_factory.mktemp("layout"), LAYOUT + script, list(live_weights.PACKS), given)


def what(laid_out, width, part):
    """What was found of each figure that has something of this part."""
    return {begun: found[part] for begun, found in zip(BEGUN, laid_out[width], strict=True) if found[part]}


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_frame(width, laid_out):
    assert what(laid_out, width, "wide") == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_names_in_planes_do_not_overlap_at_the_start(width, laid_out):
    assert what(laid_out, width, "crossed") == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_mark_of_a_plane_is_hidden_at_the_start(width, laid_out):
    assert what(laid_out, width, "hidden") == {}


@pytest.mark.parametrize("width", WIDTHS)
def test_no_grid_is_cut_off_at_the_start(width, laid_out):
    assert what(laid_out, width, "cut") == {}


def test_on_phones_each_row_is_as_high_as_a_finger(laid_out):
    assert what(laid_out, "390", "low") == {}


def test_each_figure_has_few_tab_stops(laid_out):
    stops = what(laid_out, "390", "stops")
    assert set(stops) == set(BEGUN)
    assert {name: count for name, count in stops.items() if count > MOST_STOPS} == {}
