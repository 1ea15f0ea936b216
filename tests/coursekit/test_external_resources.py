"""Finding the external resources that a built page would load."""

import pytest

from coursekit.external_resources import external_resources, loads_of_page, loads_of_script, loads_of_style

AWAY = "https://example.org/a"


@pytest.mark.parametrize("tag", [
    '<script src="https://example.org/a"></script>',
    '<link rel="stylesheet" href="https://example.org/a">',
    '<link rel="preload icon" href="https://example.org/a"/>',
    '<img src="https://example.org/a" alt="x">',
    '<p style="background: url(https://example.org/a)">',
    '<style>@import "https://example.org/a";</style>',
])  # fmt: skip
def test_what_a_browser_would_fetch_is_found(tag):
    assert loads_of_page(tag) == [AWAY]


def test_addresses_without_a_scheme_are_found():
    assert loads_of_page('<script src="//example.org/a"></script>') == ["//example.org/a"]


@pytest.mark.parametrize("tag", [
    '<a href="https://example.org/paper">paper</a>',
    '<link rel="canonical" href="https://example.org/a">',
    '<script src="_static/own.js"></script>',
    '<img src="data:image/png;base64,AAAA//AA" alt="x">',
    "<p>https://example.org/a.js is an address</p>",
    '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
])  # fmt: skip
def test_what_only_names_a_place_is_let_through(tag):
    assert loads_of_page(tag) == []


def test_inline_scripts_that_load_code_are_found():
    page = '<script>load("https://example.org/x.js?v=2"); see("https://example.org/")</script>'
    assert loads_of_page(page) == ["https://example.org/x.js"]


def test_styles_and_scripts_are_searched():
    assert loads_of_style("@font-face { src: url('//example.org/f.woff2') }") == ["//example.org/f.woff2"]
    assert loads_of_style("a { background: url(own.png) }") == []
    assert loads_of_script("// see https://example.org/a.js for more\nimport('https://example.org/b.mjs')") == [
        "https://example.org/b.mjs"
    ]


def test_a_whole_book_is_searched_and_each_find_has_its_file(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text("<p>fine</p>")
    (tmp_path / "deep" / "page.html").write_text('<img src="https://example.org/a">')
    (tmp_path / "own.css").write_text("@import url(https://example.org/b.css);")
    assert external_resources(tmp_path) == [
        "deep/page.html: https://example.org/a",
        "own.css: https://example.org/b.css",
    ]
