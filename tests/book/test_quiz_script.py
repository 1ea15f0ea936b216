"""quiz.js in Chromium: each right answer is called right, and each wrong one gets words of its own."""

import json
import re
import subprocess

import pytest
from browser import QUIET, chromium

pytestmark = [pytest.mark.book, pytest.mark.slow]

# Answers each form in each way that its list of answers names, and once not at all; writes down what the page said.
ROBOT = """<script>
window.addEventListener("load", function () {
  const found = [];
  document.querySelectorAll("form.quiz-question").forEach(function (form) {
    const items = Array.from(form.querySelectorAll(".quiz-answers li")), field = form.querySelector("input");
    const right = items.filter(function (item) { return "right" in item.dataset; });
    function answer(chosen) {
      if (form.dataset.kind === "number") { field.value = chosen.length ? chosen[0].dataset.number : ""; }
      form.querySelectorAll("input:not([type=number])").forEach(function (input) {
        input.checked = chosen.some(function (item) { return item.dataset.choice === input.value; });
      });
      form.requestSubmit();
      const said = form.querySelector("[role=status]").textContent;
      const why = chosen.length ? chosen[chosen.length - 1].querySelector(".quiz-why").textContent : "";
      const all = chosen.length === right.length && chosen.every((one) => right.includes(one));
      const wanted = form.dataset.kind === "several" ? all : chosen.length > 0 && right.includes(chosen[0]);
      const is = (name) => form.classList.contains(name);
      const score = form.closest(".quiz").querySelector(".quiz-score").textContent;
      found.push({ id: form.id, kind: form.dataset.kind, count: chosen.length, wanted: wanted, right: is("is-right"),
        wrong: is("is-wrong"), said: said, has_why: said.includes(why), score: score });
    }
    answer([]);
    items.forEach(function (item) { answer([item]); });
    if (form.dataset.kind === "several") { answer(items); }
    answer(right);
  });
  const made = document.createElement("pre");
  made.id = "what-was-said";
  made.textContent = JSON.stringify(found);
  document.body.replaceChildren(made);
});
</script></body>"""


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def answered(request, html, tmp_path_factory):
    """What the quizzes of one page said to each answer."""
    if chromium() is None:
        pytest.skip("there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none")
    page, folder = html / f"book/quizzes/part{request.param}.html", tmp_path_factory.mktemp("quiz")
    text = page.read_text(encoding="utf-8").replace("</body>", ROBOT)
    (folder / "page.html").write_text(
        text.replace("<head>", f'<head><base href="{page.as_uri()}">', 1), encoding="utf-8"
    )
    command = [chromium(), *QUIET, f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000", "--dump-dom"]
    shown = subprocess.run(
        [*command, (folder / "page.html").as_uri()], capture_output=True, text=True, timeout=300
    ).stdout
    said = re.search(r'<pre id="what-was-said">(.*?)</pre>', shown, re.DOTALL)
    assert said, "the page did not answer"
    return json.loads(said[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def test_right_answers_are_called_right_and_no_others(answered):
    assert [one for one in answered if one["right"] != one["wanted"]] == []


def test_an_empty_answer_is_asked_for_and_not_marked(answered):
    empty = [one for one in answered if one["count"] == 0]
    assert {one["said"].strip() for one in empty} == {"Please answer first."}
    assert not any(one["wrong"] for one in empty)


def test_each_answer_hears_its_own_words_and_a_wrong_one_what_to_read_again(answered):
    single = [one for one in answered if one["kind"] != "several" and one["count"]]
    assert [one for one in single if not one["has_why"]] == []
    wrong = [one for one in answered if one["wrong"]]
    assert [one for one in wrong if "Read again: " not in one["said"]] == []
    assert [one for one in answered if one["right"] and "Read again" in one["said"]] == []


def test_the_score_counts_what_is_right(answered):
    last = {one["id"][:7]: one["score"] for one in answered}
    assert {score.split(" questions")[0] for score in last.values()} == {"6 of 6"}
