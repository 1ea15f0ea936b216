"""A book of a few short pages, as Sphinx would have built it."""

import base64
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
CONTENTS = """\
format: jb-book
root: book/index
parts:
  - caption: "Part I. The beginning"
    chapters: [{file: book/part1}]
  - numbered: true
    chapters: [{file: chapters/01_one}]
  - chapters: [{file: labs/lab01_one/lab01_one}]
  - caption: Quizzes
    chapters: [{file: book/quizzes/part1}]
  - caption: Evidence for the chapters
    chapters: [{file: chapters/01_one_evidence}]
  - caption: For teachers
    chapters: [{file: book/teaching/guide}]
  - caption: To look things up
    chapters: [{file: book/glossary}]
"""
CHAPTER = r"""
<h1><span class="section-number">1. </span>One<a class="headerlink" href="#one">#</a></h1>
<p class="open-notebook"><a download="x.ipynb"
href="../_sources/x.ipynb">Open the notebook</a><button>Reading</button></p>
<p id="said">See <a class="reference internal" href="../book/glossary.html#term-word">a word</a>,
<a href="01_one_evidence.html#proof">the proof</a>, <a href="../book/teaching/guide.html">the guide</a>,
<a href="#eq-1">the formula</a>, <a href="#hidden">what is hidden</a>, <a href="https://example.org/a">a page</a> and
<span class="math notranslate nohighlight">\(a &lt; b_1\)</span>. Its word is <span lang="zh-Hans">注意力</span>.</p>
<div class="math notranslate nohighlight" id="eq-1">
<span class="eqno">(1.1)<a class="headerlink" href="#eq-1">#</a></span>\[
\begin{split}\begin{aligned} c &amp;= \sum_j a_j \\ d &amp;= 2 \end{aligned}\end{split}\]</div>
<section id="two"><span id="sec-two"></span><h2>Two</h2>
<div class="cell docutils container"><details class="admonition hide above-input"><summary>Code</summary>
<div class="cell_input" id="hidden"><pre>secret_code()</pre></div></details></div>
<div class="cell proof"><details class="claims"><summary>2 claims</summary><ul><li>claimed</li></ul></details></div>
<div class="cell"><div class="cell_input"><div class="highlight"><pre>shown_code()</pre></div></div>
<div class="cell_output"><figure id="fig-1"><img alt="A dot" src="../_images/dot.png"/>
<figcaption><p>Figure 1.1 A dot.</p></figcaption></figure></div></div>
<div class="exercise admonition" id="ex-1"><p class="admonition-title">Exercise 1.1</p><p>Why?</p></div>
<div class="solution dropdown admonition" id="chapters/01_one-solution-1"><p class="admonition-title">Solution to
<a href="#ex-1">Exercise 1.1</a></p><p>Because.</p></div>
<details><summary>A hint</summary><p>Think.</p></details>
<div class="live" data-live="x"></div>
</section>
"""
QUIZ = r"""
<h1>Quizzes on Part I</h1><div class="quiz">
<form class="quiz-question" data-kind="one" data-within="0" id="quiz-01-a" novalidate><fieldset aria-labelledby="x y">
<legend id="x">Question 1</legend><div class="quiz-ask" id="y"><p>Which?</p></div>
<div class="quiz-choice"><input id="q-a" name="q" type="radio" value="a"/><label for="q-a">This</label></div>
<div class="quiz-choice"><input id="q-b" name="q" type="radio" value="b"/><label for="q-b">That</label></div>
<p class="quiz-check" hidden><button type="submit">Check</button></p><div class="quiz-result" role="status"></div>
</fieldset><details class="quiz-answers"><summary>Answers</summary><ul>
<li data-choice="a" data-right>
<span class="quiz-text"><strong>Right: </strong>This</span> <span class="quiz-why">Yes.</span></li>
<li data-choice="b">
<span class="quiz-text"><strong>Not right: </strong>That</span> <span class="quiz-why">No.</span></li>
</ul><p class="quiz-again">Read again: <a href="../../chapters/01_one.html#two">Two</a>.</p></details></form>
<form class="quiz-question" data-kind="number" data-within="0" id="quiz-01-b" novalidate><fieldset>
<legend>Question 2</legend><div class="quiz-ask"><p>How many?</p></div>
<p class="quiz-number"><label for="n">Your answer (bits)</label><input id="n" type="number"/></p></fieldset>
<details class="quiz-answers"><summary>Answers</summary><ul>
<li data-number="2" data-right>2 bits</li></ul></details></form>
<p class="quiz-score" hidden></p></div>
"""
PAGES = {
    "book/part1": "<h1>The beginning</h1><p>Begin.</p>",
    "chapters/01_one": CHAPTER,
    "labs/lab01_one/lab01_one": "<h1>Lab 01: Do it</h1><p><a href='../../chapters/01_one.html'>Chapter 1</a></p>",
    "book/quizzes/part1": QUIZ,
    "chapters/01_one_evidence": "<h1>Proof of one</h1><section id='proof'><h2>It is so</h2>"
    "<p><a href='01_one.html'>Chapter 1</a></p></section>",
    "book/teaching/guide": "<h1>Guide</h1>",
    "book/glossary": "<h1>Glossary</h1><dl class='glossary'><dt id='term-word'>word</dt><dd><p>A sign.</p></dd></dl>"
    "<svg viewbox='0 0 9 9'><marker refx='1'></marker></svg>",
}
FRAME = (
    "<!DOCTYPE html><html><head><title>x</title><script>var x = 1;</script></head><body><nav>Menu</nav>"
    '<article class="bd-article"><section class="tex2jax_ignore mathjax_ignore" id="one">{}</section></article>'
    "</body></html>"
)


@pytest.fixture
def tiny_book(tmp_path: Path) -> Path:
    """The root of a course with a built book."""
    html = tmp_path / "book/_build/html"
    for name, body in PAGES.items():
        path = html / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FRAME.format(body), encoding="utf-8")
    (html / "index.html").write_text("<a href='book/part1.html'>Begin</a>", encoding="utf-8")
    (html / ".buildinfo").write_text("x", encoding="utf-8")
    (html / "_images").mkdir()
    (html / "_images/dot.png").write_bytes(DOT)
    (html / "_static").mkdir()
    (html / "_static/pygments.css").write_text(
        'html[data-theme="light"] .highlight .k { color: red }\n', encoding="utf-8"
    )
    shutil.copy(ROOT / "book/_static/logo.svg", html / "_static/logo.svg")
    (tmp_path / "book/_toc.yml").write_text(CONTENTS, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', encoding="utf-8")
    (tmp_path / "chapters").mkdir()
    return tmp_path


@pytest.fixture
def html(tiny_book: Path) -> Path:
    """The folder of its pages."""
    return tiny_book / "book/_build/html"
