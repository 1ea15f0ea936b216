"""Glossary, bibliography and the picture on the title page say what they should."""

import json
import math
import re
import unicodedata

import pytest
from pybtex.database import parse_file

ENTRY = re.compile(r"((?:^\S.*\n)+)((?:^  .*\n?)+)", flags=re.MULTILINE)
CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")


@pytest.fixture(scope="module")
def glossary(root):
    """Pairs (names of a term, its definition)."""
    text = (root / "book/glossary.md").read_text(encoding="utf-8")
    body = re.search(r":::\{glossary\}\n(.*?)^:::$", text, flags=re.MULTILINE | re.DOTALL)[1]
    return [(names.split("\n")[:-1], definition) for names, definition in ENTRY.findall(body)]


@pytest.fixture(scope="module")
def bibliography(root):
    return parse_file(root / "book/references.bib").entries


@pytest.fixture(scope="module")
def prose(root):
    """The text of every page that may cite."""
    texts = [path.read_text(encoding="utf-8") for path in (root / "book").glob("*.md")]
    for path in (root / "chapters").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return "\n".join(texts)


def test_glossary_is_as_long_as_part_one_needs(glossary):
    assert len(glossary) >= 60


def test_glossary_is_alphabetical(glossary):
    names = [names[0].lower().replace("–", "-") for names, _ in glossary]
    assert names == sorted(names)


def test_no_term_is_explained_twice(glossary):
    names = [name.lower() for names, _ in glossary for name in names]
    assert len(names) == len(set(names))


def test_every_term_has_its_chinese_name(glossary):
    lacking = [names[0] for names, definition in glossary if not re.match(r"  \{zh\}`[^`]+` \S", definition)]
    assert lacking == []
    chinese = [re.match(r"  \{zh\}`([^`]+)`", definition)[1] for _, definition in glossary]
    assert len(chinese) == len(set(chinese))
    assert all(any("CJK" in unicodedata.name(letter, "") for letter in words) for words in chinese)


def test_every_term_that_is_used_is_explained(glossary, prose):
    known = {name.lower() for names, _ in glossary for name in names}
    used = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", prose)
    assert {name.lower().strip() for name in used} <= known


def test_every_work_has_what_a_reader_needs_to_find_it(bibliography):
    for key, entry in bibliography.items():
        assert {"title", "year"} <= set(entry.fields), key
        assert entry.persons["author"], key
        assert {"doi", "url"} & set(entry.fields), key
        assert {"journal", "booktitle", "howpublished", "publisher"} & set(entry.fields), key


def test_keys_are_name_and_year(bibliography):
    for key, entry in bibliography.items():
        name = unicodedata.normalize("NFKD", "".join(entry.persons["author"][0].last_names))
        name = re.sub(r"[^a-z]", "", re.sub(r"\\.|[{}]", "", name).lower())
        assert re.fullmatch(name + entry.fields["year"][:4] + "[a-z]*", key), key


def test_works_are_in_order_of_their_keys(bibliography):
    assert list(bibliography) == sorted(bibliography)


def test_no_work_stands_twice(bibliography):
    titles = [re.sub(r"\W", "", entry.fields["title"]).lower() for entry in bibliography.values()]
    assert len(titles) == len(set(titles))


def test_every_citation_has_its_work(bibliography, prose):
    cited = {key.strip() for keys in CITED.findall(prose) for key in keys.split(",")}
    assert cited <= set(bibliography)
    assert cited, "no page cites anything"


def test_works_that_no_page_cites_are_listed_too(root):
    text = (root / "book/bibliography.md").read_text(encoding="utf-8")
    assert re.search(r"```\{bibliography\}\n:all:", text)


@pytest.mark.parametrize("name", ["one_sentence.svg", "one_sentence_narrow.svg"])
def test_the_sums_in_the_picture_on_the_title_page_are_right(root, name):
    query, keys, values = (2, 1), [(1, 0), (0, 1), (1, 1)], [(4, 0), (0, 4), (4, 4)]
    scores = [query[0] * key[0] + query[1] * key[1] for key in keys]
    weights = [math.exp(score) / sum(map(math.exp, scores)) for score in scores]
    context = [sum(w * value[axis] for w, value in zip(weights, values, strict=True)) for axis in (0, 1)]
    drawing = (root / "book/_static" / name).read_text(encoding="utf-8")
    shown = re.findall(r">([^<>]+)</text>", drawing)
    assert {str(query), *map(str, keys + values), *map(str, scores)} <= set(shown)
    assert {f"{weight:.2f}" for weight in weights} <= set(shown)
    assert f"({context[0]:.2f}, {context[1]:.2f})" in shown
