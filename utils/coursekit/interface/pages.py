"""The text of a page of the reference: each module with what it offers, and where the book explains and uses it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from coursekit.interface.definitions import Definition, Module, modules_of
from coursekit.interface.docstrings import first_sentence, plain, reworded
from coursekit.interface.uses import Use, uses_of, wanted_by_others
from coursekit.project import Project, is_evidence

# The pages, in the book's order, and the modules of each: a package, or all that no other page has.
ROOMS = {
    "attention": "attnbook.attention", "models": "attnbook.models", "training": "attnbook.training",
    "decoding": "attnbook.decoding", "data": "attnbook.data", "measure": "attnbook.measure", "attnbook": "attnbook",
    "misread": "misread",
}  # fmt: skip
FOLDER = "book/reference"
INDENT = " " * 3


class Interface:
    """What `attnbook` and `misread` offer to others, read once from the sources and the notebooks."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.utils = project.root / "utils"

    @cached_property
    def modules(self) -> dict[str, list[Module]]:
        """By page: its modules, with the definitions that others use."""
        notebooks = [*self.project.chapters, *(lab.source for lab in self.project.labs)]
        wanted = wanted_by_others(self.utils, notebooks)
        pages: dict[str, list[Module]] = defaultdict(list)
        for package in ("attnbook", "misread"):
            for module in modules_of(self.utils, package):
                module.definitions = [one for one in module.definitions if _offered(one, wanted)]
                if module.definitions:
                    pages[_page(module.name)].append(module)
        return pages

    @cached_property
    def places(self) -> dict[tuple[str, str], str]:
        """Under which path an entry stands, by each (module, name) from which it can be imported."""
        found: dict[tuple[str, str], str] = {}
        for modules in self.modules.values():
            for one in (one for module in modules for one in module.definitions):
                found |= {(one.module, one.name): one.path, (one.home, one.name): one.path}
        return found

    @cached_property
    def uses(self) -> dict[str, list[Use]]:
        """The chapters that import a name or show its source, by its path."""
        found: dict[str, list[Use]] = defaultdict(list)
        for notebook in self.project.chapters:
            for key, use in uses_of(notebook, f"chapters/{notebook.stem}"):
                if key in self.places:
                    found[self.places[key]].append(use)
        return found

    def page_of(self, path: str) -> str:
        """The page on which an entry stands, without its ending, such as book/reference/attention."""
        return f"{FOLDER}/{_page(path)}"

    def text(self, page: str) -> str:
        """A page in Markdown: one line per name, then the entries. Raises KeyError for a page that is none."""
        modules = self.modules[page]
        return "\n".join([*_table(modules), *(line for module in modules for line in self._module(module))])

    def files(self) -> list[Path]:
        """What the pages are made from."""
        sources = [path for package in ("attnbook", "misread") for path in (self.utils / package).rglob("*.py")]
        return [*sources, *self.project.chapters, *Path(__file__).parent.glob("*.py")]

    def _module(self, module: Module) -> Iterator[str]:
        yield f"## {module.name}\n\n````{{eval-rst}}\n.. py:module:: {module.name}\n"
        yield plain(module.words.split("\n\n")[0]) + "\n"
        for one in module.definitions:
            yield from self._entry(one, "")
        yield "````\n"

    def _entry(self, one: Definition, indent: str) -> Iterator[str]:
        whole = f"{one.module}.{one.name}"
        options = {"module": one.home, **({"canonical": whole} if one.home != one.module else {})} if not indent else {}
        options |= {"no-index-entry": "", **one.options}
        yield f"{indent}.. py:{one.kind}:: {one.name}{one.signature}"
        yield from (f"{indent}{INDENT}:{name}: {value}".rstrip() for name, value in options.items())
        words = [reworded(one.words), *([] if indent else where(self.uses[one.path]))]
        yield "\n" + "\n\n".join(_indented(text, indent + INDENT) for text in words if text) + "\n"
        for part in one.parts:
            yield from self._entry(part, indent + INDENT)


def _table(modules: Iterable[Module]) -> Iterator[str]:
    yield "## At a glance\n\n````{eval-rst}\n.. list-table::\n   :class: at-a-glance\n   :widths: 30 70\n"
    for one in (one for module in modules for one in module.definitions):
        yield f"   * - :py:obj:`{one.name} <{one.path}>`\n     - {first_sentence(one.words)}"
    yield "\n````\n"


def _offered(one: Definition, wanted: set[tuple[str, str]]) -> bool:
    """Whether a package exports it, or something outside of its own package imports it."""
    return one.home != one.module or (one.module, one.name) in wanted


def _page(name: str) -> str:
    return next(page for page, room in ROOMS.items() if f"{name}.".startswith(f"{room}."))


def where(uses: Iterable[Use]) -> list[str]:
    """A line that leads to the chapters: those that show the source first, evidence only where no chapter has it."""
    chosen = [use for use in uses if not is_evidence(Path(use.page))] or list(uses)
    shown, others = (_listed(use for use in chosen if use.shown is wanted) for wanted in (True, False))
    parts = [f"{begin} {links}" for begin, links in (("Explained in", shown), ("Used in", others)) if links]
    return [". ".join(parts) + "."] if parts else []


def _listed(uses: Iterable[Use]) -> str:
    return ", ".join(map(_link, uses))


def _link(use: Use) -> str:
    name = Path(use.page).stem
    words = f"Chapter {int(name[:2])}" + (", evidence" if is_evidence(Path(name)) else "")
    return f":ref:`{words} <{use.section}>`" if use.section else f":doc:`{words} </{use.page}>`"


def _indented(text: str, indent: str) -> str:
    return "\n".join(f"{indent}{line}".rstrip() for line in text.splitlines())
