"""What is folded away around a figure or a piece of code is one line after it, in the order of the cells."""

import pytest
from bs4 import BeautifulSoup
from loaded import loaded

CODE = '<div class="cell_input"><pre>{}</pre></div>'
OUTPUT = '<div class="cell_output">{}</div>'
HIDDEN = '<details class="admonition hide"><summary>Show</summary>'
CELLS = {
    "hidden": HIDDEN + CODE + "</details>",
    "hidden with output": HIDDEN + CODE + OUTPUT.format("out") + "</details>",
    "figure": HIDDEN + CODE + "</details>" + OUTPUT.format("FIGURE"),
    "code": CODE,
    "proof": '<details class="claims"><ul class="claims-said"><li>a</li><li>b</li></ul>' + CODE + "</details>",
    "code with a claim": CODE + '<details class="claims"><ul class="claims-said"><li>c</li></ul></details>',
    "hidden with a claim": HIDDEN
    + CODE
    + '<details class="claims"><ul class="claims-said"><li>d</li></ul></details></details>',
}


@pytest.fixture(scope="module")
def folds(root):
    return loaded(root / "book/_ext/folds.py")


@pytest.fixture
def seen(folds):
    """Returns what a reader sees of cells, and of the code in each fold: cells' names, or "text" for a paragraph."""

    def see(*kinds):
        cells = [
            f'<div class="cell">{CELLS[kind].replace("{}", str(at))}</div>' if kind in CELLS else "<p>text</p>"
            for at, kind in enumerate(kinds)
        ]
        page = BeautifulSoup(f"<section>{''.join(cells)}</section>", "html.parser")
        folds.join_folds(page)
        found = []
        for part in page.select("p, div.cell > *"):
            if part.name == "details":
                found.append((part.summary.get_text(), [int(code.get_text()) for code in part.select("pre")]))
            else:
                found.append(part.get_text())
        return found

    return see


@pytest.mark.parametrize(
    "kinds, wanted",
    [
        (["hidden"], [("Code", [0])]),
        (["hidden with output"], [("Code and output", [0])]),
        (["proof"], [("✓ 2 statements checked", [0])]),
        (["hidden with a claim"], [("Code, ✓ 1 statement checked", [0])]),
        (["code with a claim"], ["0", ("✓ 1 statement checked", [])]),
        (["hidden", "hidden", "figure", "proof"], ["FIGURE", ("Code, ✓ 2 statements checked", [0, 1, 2, 3])]),
        (["hidden", "hidden with output", "code"], [("Code and output", [0, 1]), "2"]),
        (["code", "hidden", "proof"], ["0", ("Code, ✓ 2 statements checked", [1, 2])]),
        (["code", "hidden", "figure"], ["0", ("Code", [1]), "FIGURE", ("Code", [2])]),
        (["figure", "proof", "figure"], ["FIGURE", ("Code, ✓ 2 statements checked", [0, 1]), "FIGURE", ("Code", [2])]),
        (["code", "code"], ["0", "1"]),
        (["hidden", "text", "figure"], [("Code", [0]), "text", "FIGURE", ("Code", [2])]),
        (["text"], ["text"]),
    ],
    ids=lambda value: "-".join(value) if all(isinstance(item, str) for item in value) else "",
)
def test_folds_are_joined_after_what_their_cells_show(seen, kinds, wanted):
    assert seen(*kinds) == wanted


def test_no_code_and_no_claim_gets_lost(folds):
    cells = "".join(f'<div class="cell">{CELLS[kind].replace("{}", kind)}</div>' for kind in CELLS for _ in range(2))
    page = BeautifulSoup(cells, "html.parser")
    before = sorted(part.get_text() for part in page.select("pre, li"))
    folds.join_folds(page)
    assert sorted(part.get_text() for part in page.select("pre, li")) == before
