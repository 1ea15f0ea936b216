"""Quizzes: the directive `{quiz}` makes forms of the questions in book/quizzes/NN_topic.yml.

A form works with the keyboard, and quiz.js marks it. Without a script its folded list of answers stays. Everything is
in the page, the answers too, so a quiz is for practice.

A question is a mapping: `id`; `ask`; either `choices` (each `right` or `wrong`: its text, with `why`) and, where
several are right, `several: true`, or `number` with `within`, a `unit`, `why`, and known mistakes under `not`; `again`,
a link to what one should read again; and `measured`, the numbers of the chapter that it rests on.
"""

from __future__ import annotations

import html
from pathlib import Path

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coursekit.project import is_evidence

FOLDER = Path("book/quizzes")
EMPTY = ("input",)


def short_name(name: str) -> str:
    """What labels and ids of a page begin with: "13" for the chapter 13_ntm, "13e" for its evidence."""
    return name[:2] + ("e" if is_evidence(Path(name)) else "")


class Html(nodes.General, nodes.TextElement):
    """An element that docutils has no node for: a `tag` with its `attributes`. Links may stand in it."""


def element(tag: str, *children: nodes.Node | str, **attributes: str | bool) -> Html:
    """A new element. An underscore in an attribute's name stands for a hyphen, one at its end for nothing."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not False}
    node = Html("", "", tag=tag, attributes=named)
    node.extend(nodes.Text(child) if isinstance(child, str) else child for child in children)
    return node


def visit_html(translator, node: Html) -> None:
    """Open the element."""
    named = (
        name if value is True else f'{name}="{html.escape(str(value))}"' for name, value in node["attributes"].items()
    )
    translator.body.append(f"<{' '.join([node['tag'], *named])}>")


def depart_html(translator, node: Html) -> None:
    """Close it, where it has an end."""
    if node["tag"] not in EMPTY:
        translator.body.append(f"</{node['tag']}>")


def answers_of(question: dict) -> list[dict]:
    """A question's list of answers: the text of each, whether it is right, why, and how the script finds it."""
    if "choices" in question:
        return [
            {"text": choice.get("right", choice.get("wrong")), "right": "right" in choice, "why": choice["why"],
             "key": {"data_choice": chr(ord("a") + place)}}
            for place, choice in enumerate(question["choices"])
        ]  # fmt: skip
    unit = f" {question['unit']}" if "unit" in question else ""
    numbers = [{**question, "right": True}, *({**known, "right": False} for known in question.get("not", ()))]
    return [
        {"text": f"{number['number']}{unit}", "right": number["right"], "why": number["why"],
         "key": {"data_number": str(number["number"])}}
        for number in numbers
    ]  # fmt: skip


class Quiz(SphinxDirective):
    """`{quiz} 02_bahdanau`: the questions of one chapter, each a form."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = Path(self.env.srcdir) / FOLDER / f"{name}.yml"
        self.env.note_dependency(str(path))
        questions = yaml.safe_load(path.read_text(encoding="utf-8"))
        forms = [self.form(short_name(name), number, one) for number, one in enumerate(questions, start=1)]
        return [element("div", *forms, element("p", class_="quiz-score", hidden=True), class_="quiz")]

    def form(self, chapter: str, number: int, question: dict) -> Html:
        """One question: what is asked, the fields, where the result appears, and the folded answers."""
        own, result = f"quiz-{chapter}-{question['id']}", element("div", class_="quiz-result", role="status")
        check = element("p", element("button", "Check", type="submit"), class_="quiz-check", hidden=True)
        fields = element(
            "fieldset",
            element("legend", f"Question {number}", id=f"{own}-legend"),
            element("div", *self.blocks(question["ask"]), id=f"{own}-ask", class_="quiz-ask"),
            *self.fields(own, question), check, result, aria_labelledby=f"{own}-legend {own}-ask",
        )  # fmt: skip
        kind = "number" if "number" in question else "several" if question.get("several") else "one"
        data = {"data_kind": kind, "data_within": str(question.get("within", 0))}
        return element("form", fields, self.answers(question), id=own, class_="quiz-question", novalidate=True, **data)

    def fields(self, own: str, question: dict) -> list[Html]:
        """The choices, or the field for a number."""
        if "number" in question:
            label = "Your answer" + (f" ({question['unit']})" if "unit" in question else "")
            field = element("input", type="number", step="any", id=f"{own}-number", name=own, autocomplete="off")
            return [element("p", element("label", label, for_=f"{own}-number"), field, class_="quiz-number")]
        kind, found = "checkbox" if question.get("several") else "radio", []
        for answer in answers_of(question):
            value = answer["key"]["data_choice"]
            field = element("input", type=kind, name=own, value=value, id=f"{own}-{value}", autocomplete="off")
            label = element("label", *self.inline(answer["text"]), for_=f"{own}-{value}")
            found.append(element("div", field, label, class_="quiz-choice"))
        return found

    def answers(self, question: dict) -> Html:
        """The folded list of answers, each with its reason, and what to read again."""
        items = []
        for answer in answers_of(question):
            word = element("strong", "Right: " if answer["right"] else "Not right: ")
            text = element("span", word, *self.inline(answer["text"]), class_="quiz-text")
            why = element("span", *self.inline(answer["why"]), class_="quiz-why")
            items.append(element("li", text, " ", why, **answer["key"], data_right=answer["right"]))
        again = element("p", "Read again: ", *self.inline(question["again"]), ".", class_="quiz-again")
        return element("details", element("summary", "Answers"), element("ul", *items), again, class_="quiz-answers")

    def blocks(self, text: str) -> list[nodes.Node]:
        """Markdown as blocks."""
        inside = nodes.Element()
        self.state.nested_parse(StringList(str(text).splitlines(), self.arguments[0]), 0, inside)
        return inside.children

    def inline(self, text: str) -> list[nodes.Node]:
        """Markdown of one paragraph, without the paragraph."""
        found = self.blocks(text)
        return found[0].children if len(found) == 1 and isinstance(found[0], nodes.paragraph) else found


def setup(app: Sphinx) -> dict:
    """Tell Sphinx of the directive and of its elements."""
    app.add_node(Html, html=(visit_html, depart_html))
    app.add_directive("quiz", Quiz)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
