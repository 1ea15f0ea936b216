"""An exam as pages to print and as a notebook, and its solutions with points. Nothing is loaded from elsewhere."""

import html
import json
import re

from coursekit.exams.paper import Item, Paper
from coursekit.exams.question import Block, Table

STYLE = """\
body { font: 11pt/1.5 Georgia, "Times New Roman", serif; color: #000; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 0.4rem; }
table { border-collapse: collapse; margin: 0.6rem 0; } th, td { border: 1px solid #555; padding: 0.15rem 0.7rem; }
ol.parts { list-style: none; padding-left: 1.2rem; } ol.parts li { margin: 0.25rem 0; }
.space { border-bottom: 1px solid #bbb; } .name td { border: 0; padding: 0.3rem 2rem 0.3rem 0; }
.points { white-space: nowrap; text-align: right; } section { break-inside: avoid; }
@page { margin: 18mm; } @media print { body { margin: 0; max-width: none; } }
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
ADVICE = (
    "Pen and paper only: no calculator is needed. Leave fractions and logarithms as they are. Show how you got your "
    "result, because each step has its points."
)
MARKING = (
    "Give the points of a step for its idea and its numbers. A slip in the arithmetic costs one point of the "
    "step, once. "
    "A later step that is right for a wrong earlier number gets its points. Another way to the same result "
    "counts fully. "
    "Sentences need not use these words, but the reason must be in them."
)


def pieces(paragraph: str) -> tuple[str, list[str]]:
    """What stands before (a) in a paragraph, and its parts, each with its letter.

    >>> pieces("Two. (a) One? (b) As in (a)?")
    ('Two.', ['(a) One?', '(b) As in (a)?'])
    """
    places: list[int] = []
    for letter in "abcdef":
        found = paragraph.find(f"({letter}) ", places[-1] + 1 if places else 0)
        if found < 0:
            break
        places.append(found)
    if not places:
        return paragraph, []
    ends = [*places[1:], len(paragraph)]
    return paragraph[: places[0]].strip(), [paragraph[a:b].strip() for a, b in zip(places, ends, strict=True)]


def html_of(block: Block) -> str:
    """A paragraph with its parts, or a table."""
    if isinstance(block, Table):
        head = "".join(f'<th scope="col">{name}</th>' for name in block.header)
        rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in block.rows)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    lead, parts = pieces(block)
    listed = "".join(f"<li>{part}</li>" for part in parts)
    return (f"<p>{lead}</p>" if lead else "") + (f'<ol class="parts">{listed}</ol>' if parts else "")


def markdown_of(block: Block) -> str:
    """The same for a notebook."""
    if isinstance(block, Table):
        lines = (block.header, ("---",) * len(block.header), *block.rows)
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    lead, parts = pieces(block)
    return "\n\n".join(filter(None, [lead, *parts]))


def heading(item: Item) -> str:
    """`3. Title (6 points, about 9 minutes)`."""
    level = item.kind.level
    return f"{item.number}. {item.kind.title} ({level.points} points, about {level.minutes} minutes)"


def exam_page(paper: Paper) -> str:
    """The exam to print: a head for the name, each question, and room to write."""
    name = '<table class="name"><tr><td>Name:</td><td>Number:</td><td>Date:</td></tr></table>'
    facts = f"<p>{paper.points} points, {paper.minutes} minutes. {ADVICE}</p>"
    parts = [f"<h1>Paying Attention: {paper.title}</h1>", name, facts]
    for item in paper.items:
        room = f'<div class="space" style="height: {item.kind.level.minutes}rem"></div>'
        question = "\n".join(map(html_of, item.question.text))
        parts.append(f"<section><h2>{html.escape(heading(item))}</h2>\n{question}\n{room}</section>")
    return PAGE.format(title=f"{paper.title}: Paying Attention", style=STYLE, body="\n".join(parts))


def solutions_page(paper: Paper) -> str:
    """The solutions: each question again, the steps with their points, and how to mark."""
    parts = [
        f"<h1>Solutions: {paper.title}</h1>",
        f"<p><strong>For the teacher only.</strong> Made with <code>coursekit exam --kind {paper.name} --seed "
        f"&quot;{html.escape(paper.seed)}&quot;</code>: whoever knows the seed can make this page.</p>",
        f"<p>{paper.points} points, {paper.minutes} minutes. {MARKING}</p>",
    ]
    for item in paper.items:
        question = "\n".join(map(html_of, item.question.text))
        rows = "".join(
            f'<tr><td>{step.text}</td><td class="points">{step.points}</td></tr>' for step in item.question.steps
        )
        table = f'<table><tr><th scope="col">Step</th><th scope="col">Points</th></tr>{rows}</table>'
        title = f"{html.escape(heading(item))}, chapter {item.kind.chapter}"
        parts.append(f"<section><h2>{title}</h2>\n{question}\n{table}</section>")
    return PAGE.format(title=f"Solutions: {paper.title}", style=STYLE, body="\n".join(parts))


def exam_notebook(paper: Paper) -> str:
    """The exam as a notebook, with an empty cell for each answer."""
    head = f"# Paying Attention: {paper.title}\n\n{paper.points} points, {paper.minutes} minutes. {ADVICE}\n\nName:"
    cells = [_cell("head", head)]
    for item in paper.items:
        text = "\n\n".join([f"## {heading(item)}", *map(markdown_of, item.question.text)])
        cells += [_cell(f"question-{item.number}", text), _cell(f"answer-{item.number}", "*Your answer:*")]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cell(name: str, text: str) -> dict:
    lines = re.findall(r".*\n|.+$", text)  # as notebooks store them: a list of lines with their ends
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": lines}
