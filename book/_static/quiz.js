// Quizzes: marks an answer in the page, and says why it is right or which misunderstanding it shows. Nothing is sent or kept.
(function () {
  "use strict";

  const key = function (item) { return Number(item.dataset.number); };

  // The entries of the folded list that speak of what was answered, and whether the answer is right.
  function judged(form) {
    const items = Array.from(form.querySelectorAll(".quiz-answers li"));
    if (form.dataset.kind === "number") {
      const field = form.querySelector("input"), number = field.valueAsNumber;
      if (Number.isNaN(number)) { return null; }
      const near = items.filter(function (item) { // a known mistake may be rounded, the right answer as the question says
        const rounded = "right" in item.dataset ? 0 : 0.002 * Math.abs(key(item));
        return Math.abs(number - key(item)) <= Math.max(Number(form.dataset.within), rounded) + 1e-9;
      });
      return { right: near.some(function (item) { return "right" in item.dataset; }), said: near.slice(0, 1) };
    }
    const ticked = Array.from(form.querySelectorAll("input:checked"), function (input) { return input.value; });
    if (ticked.length === 0) { return null; }
    const is = function (item) { return ticked.includes(item.dataset.choice); };
    if (form.dataset.kind === "one") {
      const said = items.filter(is);
      return { right: "right" in said[0].dataset, said: said };
    }
    const wrong = items.filter(function (item) { return is(item) !== ("right" in item.dataset); });
    return { right: wrong.length === 0, said: wrong.length ? wrong : items.filter(is) };
  }

  function paragraph(word, why) {
    const made = document.createElement("p"), strong = document.createElement("strong");
    strong.textContent = word;
    made.append(strong, " ");
    if (why) { made.append(...Array.from(why.cloneNode(true).childNodes)); }
    return made;
  }

  function show(form, found) {
    const result = form.querySelector(".quiz-result");
    form.classList.toggle("is-right", Boolean(found && found.right));
    form.classList.toggle("is-wrong", Boolean(found && !found.right));
    if (!found) { result.replaceChildren(paragraph("Please answer first.")); return; }
    const several = form.dataset.kind === "several" && !found.right;
    const lines = found.said.map(function (item, at) {
      const text = several ? "“" + item.querySelector(".quiz-text").textContent.replace(/^[^:]*: /, "") + "”:" : "";
      const word = at === 0 ? (found.right ? "Right." : "Not yet.") : "";
      return paragraph([word, text].filter(Boolean).join(" "), item.querySelector(".quiz-why"));
    });
    if (lines.length === 0) { lines.push(paragraph("Not yet.")); }
    if (!found.right) { lines.push(form.querySelector(".quiz-again").cloneNode(true)); }
    result.replaceChildren(...lines);
  }

  function count(quiz) {
    const forms = quiz.querySelectorAll("form"), right = quiz.querySelectorAll("form.is-right").length, line = quiz.querySelector(".quiz-score");
    line.hidden = false;
    line.textContent = right + " of " + forms.length + " questions are answered correctly.";
  }

  function start() {
    document.querySelectorAll("form.quiz-question").forEach(function (form) {
      form.querySelector(".quiz-check").hidden = false;
      form.addEventListener("submit", function (event) {
        event.preventDefault();
        show(form, judged(form));
        count(form.closest(".quiz"));
      });
    });
  }

  if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", start); } else { start(); }
})();
