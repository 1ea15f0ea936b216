"""What was read and done is ticked in the contents, kept in the browser alone, saved, read back, and forgotten."""

import json

import pytest
from browser import chromium
from devtools import PageLeftError, Tab, tab

pytestmark = [pytest.mark.book, pytest.mark.slow]

BUTTON = 'document.querySelector(".progress-button")'
TICKED = """
    const links = [...document.querySelectorAll(".bd-sidebar-primary a[data-progress]")];
    return links.map((link) => [link.pathname.split("/").pop(), link.dataset.progress]);"""
STORED = 'return localStorage.getItem("paying-attention-progress")'
CHAPTER, LAB, KEEPER = "chapters/03_scores.html", "labs/lab03_scores/lab03_scores.html", "book/how_to_use.html"


@pytest.fixture
def opened(html, tmp_path_factory):
    """opened(page): the tab of one reader, at a page of the book on the disk."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    with tab(tmp_path_factory.mktemp("profile")) as page:
        page.size(1400, 1000)

        def at(name):
            page.open((html / name).as_uri())
            return page

        yield at


def test_a_reader_ticks_goes_on_saves_reads_back_and_forgets(opened):
    page = opened(CHAPTER)
    assert page.run(TICKED) == []
    assert page.run(f"{BUTTON}.click(); return [{BUTTON}.textContent, {BUTTON}.getAttribute('aria-pressed')]") == [
        "I have read this page", "true",
    ]  # fmt: skip
    page = opened(LAB)
    assert page.run(TICKED) == [["03_scores.html", "read"]]
    page.run(f"{BUTTON}.click()")
    assert page.run(TICKED) == [["03_scores.html", "read"], ["lab03_scores.html", "done"]]
    page.run(f"{BUTTON}.click(); {BUTTON}.click()")  # one press takes the tick away, another brings it back
    assert json.loads(page.run(STORED)) == ["chapters/03_scores", "labs/lab03_scores/lab03_scores"]

    page = opened(KEEPER)
    said = 'document.querySelector("#progress-keeper [role=status]")'
    assert page.run(f"return {said}.textContent") == "Ticked: 1 of chapters and their evidence, 1 of labs."
    saved = page.run("""
        let saved;
        HTMLAnchorElement.prototype.click = function () { saved = decodeURIComponent(this.href.split(",")[1]); };
        document.querySelector("#progress-keeper button").click();
        return saved;""")
    assert json.loads(saved) == {"pages": ["chapters/03_scores", "labs/lab03_scores/lab03_scores"]}
    box = 'document.querySelector("#progress-keeping")'
    page.run(f"{box}.click()")
    assert page.run(TICKED) == []
    assert page.run(STORED) == "off"
    assert page.run(f"return {said}.textContent") == "All ticks were deleted. Nothing is kept."

    page = opened(CHAPTER)  # switched off: no button, no tick
    assert page.run(f"return {BUTTON}.hidden")
    page = opened(KEEPER)
    page.run(f"{box}.click()")
    given = """
        const file = document.querySelector("#progress-keeper input[type=file]"), all = new DataTransfer();
        all.items.add(new File([%s], "progress.json"));
        file.files = all.files;
        file.dispatchEvent(new Event("change"));
        await new Promise((done) => setTimeout(done, 200));
        return document.querySelector("#progress-keeper [role=status]").textContent;"""
    assert page.run(given % json.dumps("no json")).startswith("This file holds no progress: it should be one that")
    assert page.run(given % json.dumps(saved)).startswith("The file was read.")
    assert page.run(TICKED) == [["03_scores.html", "read"], ["lab03_scores.html", "done"]]


def test_a_chapter_is_read_when_each_of_its_sections_was_seen(opened):
    page = opened(CHAPTER)
    assert page.run(STORED) is None
    page.run("""
        for (const heading of document.querySelectorAll(".bd-article h2")) {
            heading.scrollIntoView({ behavior: "instant" });
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))));
        }""")
    assert json.loads(page.until('localStorage.getItem("paying-attention-progress")')) == ["chapters/03_scores"]


def test_the_first_page_leads_back_to_where_the_reader_was_until_all_is_forgotten(opened):
    line = 'const line = document.querySelector(".landing .go-on"); return line && line.textContent'
    assert opened("book/index.html").run(line) is None
    page = opened(CHAPTER)
    heading = page.run("""
        const heading = document.querySelectorAll(".bd-article h2")[3];
        heading.scrollIntoView({ behavior: "instant" });
        const words = (element) => [...element.childNodes]
            .filter((part) => !["headerlink", "hurry-mark"].includes(part.className)).map((part) => part.textContent);
        return [document.querySelector(".bd-article h1"), heading].map((element) => words(element).join(""));""")
    page = opened("book/index.html")
    assert page.run(line) == "Go on where you were: " + ": ".join(heading)
    page.run('document.querySelector(".landing .go-on a").click()')
    page.until('location.pathname.endsWith("03_scores.html") && document.readyState === "complete"')
    assert page.run("return decodeURIComponent(location.hash).length > 3")
    assert page.run("return Math.abs(document.querySelector(location.hash).getBoundingClientRect().top) < 200")
    opened(KEEPER).run('document.querySelector("#progress-keeping").click()')
    assert opened("book/index.html").run(line) is None


def test_a_browser_that_keeps_nothing_shows_no_button_and_no_error(opened):
    page = opened(CHAPTER)
    forbidden = "Storage.prototype.getItem = Storage.prototype.setItem = () => { throw new Error('not allowed'); };"
    page.send("Page.addScriptToEvaluateOnNewDocument", source=forbidden)
    page = opened(KEEPER)
    assert page.run("return document.querySelector('#progress-keeper [role=status]').textContent") == "Nothing is kept."
    assert opened(CHAPTER).run(f"return {BUTTON}.hidden")


def test_a_condition_is_asked_again_when_the_page_led_on_before_it_answered():
    answers = iter([PageLeftError("Inspected target navigated or closed"), None, {"value": "there"}])

    class Leaving(Tab):
        def __init__(self) -> None:
            pass

        def run(self, script: str) -> object:
            answer = next(answers)
            if isinstance(answer, PageLeftError):
                raise answer
            return answer

    assert Leaving().until("location.pathname") == "there"
