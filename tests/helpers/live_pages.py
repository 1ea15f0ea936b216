"""The live figures' scripts in Chromium: a page of their own, opened from the disk, which answers in JSON."""

import html
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from browser import QUIET, chromium
from loaded import loaded

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "results/weights"


PAGES = [*sorted((ROOT / "chapters").glob("*.ipynb")), *sorted((ROOT / "book").glob("*.md"))]
CELL = re.compile(r'^"?:::\{live\} (\w+)\n(?::start: (.*)\n)?', re.MULTILINE)


def extension(name: str):
    """A module of the book's extensions that imports no other."""
    return loaded(ROOT / f"book/_ext/{name}.py")


live_weights, live_scripts = extension("live_weights"), extension("live_scripts")
files_of = live_scripts.files_of


def packs_of(name: str) -> tuple[str, ...]:
    """The packs that a live figure loads."""
    return live_scripts.FIGURES[name]


def scripts() -> list[str]:
    """The scripts of every page with live figures, in order."""
    return list(live_scripts.SCRIPTS)


def asked(page: Path) -> list[tuple[str, str]]:
    """The live figures of a page, and how each begins there."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return CELL.findall(text)
    found = []
    for cell in json.loads(text)["cells"]:
        live = cell["metadata"].get("live")
        found += [(live, "")] if isinstance(live, str) else [(live["figure"], live.get("start", ""))] if live else []
        found += CELL.findall("".join(cell["source"])) if cell["cell_type"] == "markdown" else []
    return found


def rounded_as_packed(model: torch.nn.Module, pack: str) -> torch.nn.Module:
    """The model with the weights that a page has: rounded as the pack does it."""
    if live_weights.PACKS[pack].halves:
        return model
    seen = set()
    for weight in model.state_dict().values():
        rows = weight.reshape(len(weight) if weight.ndim else 1, -1)
        if rows.shape[1] > 1 and weight.data_ptr() not in seen:
            seen.add(weight.data_ptr())
            scales, whole = live_weights.rounded(live_weights.Matrix(*rows.shape, rows.flatten().tolist()))
            scale = torch.frombuffer(bytearray(scales), dtype=torch.float16).float()
            weight.copy_(
                (torch.frombuffer(bytearray(whole), dtype=torch.int8).view_as(rows) * scale[:, None]).view_as(weight)
            )
    return model


def answer(
    folder: Path,
    script: str,
    packs: Sequence[str] = (),
    given: Mapping | None = None,
    figures: Sequence[str] = (),
    live: Path = ROOT / "book/live",
):
    """What `script`, the body of an async function of LIVE and of what is `given`, returns in Chromium, from file://.

    Args:
        folder: an empty one, for the page and the browser. packs: whose weights the page may load.
        live: where the scripts lie.
    """
    for pack in packs:
        (folder / f"{pack}.js").write_text(live_weights.script(pack, WEIGHTS), encoding="utf-8")
    models = [file for file in files_of(live_scripts.PARTS) if file.startswith("engine/")]  # a script may ask for any
    files = [(live / name).as_uri() for name in dict.fromkeys([*scripts(), *models, *files_of(figures)])]
    known = json.dumps(given or {}).replace("</", "<\\/")  # a script that is given must not end this one
    tags = "".join(f'<script src="{file}"></script>' for file in files)
    page = f"""<meta charset="utf-8"><body>{tags}<script>
        const GIVEN = {known};
        const done = (found) => document.body.textContent = "ANSWER" + JSON.stringify(found) + "END";
        (async () => {{ {script} }})().then(done, (error) => done({{ error: String(error.stack || error) }}));
    </script></body>"""
    (folder / "page.html").write_text(page, encoding="utf-8")
    command = [
        chromium() or "chromium",
        *QUIET,
        f"--user-data-dir={folder}/profile",
        "--virtual-time-budget=300000",
        "--dump-dom",
    ]
    shown = subprocess.run(
        [*command, (folder / "page.html").as_uri()], capture_output=True, text=True, timeout=300, encoding="utf-8"
    ).stdout
    said = re.search(r"ANSWER(.*)END", shown, re.DOTALL)
    assert said, f"the page did not answer: {shown[-300:]}"
    found = json.loads(html.unescape(said[1]))
    assert not (isinstance(found, dict) and "error" in found), found
    return found
