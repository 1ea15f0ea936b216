// Small cures for what keeps a reader out: keyboards reach what scrolls, and each part has its name.
(function () {
  "use strict";

  // A region that scrolls sideways must be reachable with the keyboard: give it a tab stop, but only while it scrolls.
  function markScrollers() {
    const boxes = ".bd-article pre, .bd-article div.math, .bd-article mjx-container[display='true'], .bd-article .cell_output, .pst-scrollable-table-container, .bd-article .text_html, .bd-article figure";
    document.querySelectorAll(boxes).forEach(function (box) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      if (scrolls && !box.hasAttribute("tabindex")) {
        box.setAttribute("tabindex", "0");
        box.setAttribute("data-scroller", "");
      } else if (!scrolls && box.hasAttribute("data-scroller")) {
        box.removeAttribute("tabindex");
        box.removeAttribute("data-scroller");
      }
    });
  }

  // A table of an output or a drawing in letters, whose columns are aligned by blanks, is unreadable when its lines break: let it scroll instead.
  function keepColumns() {
    document.querySelectorAll(".bd-article .cell_output pre:not(.package-source *), .bd-article section > div:is(.highlight-default, .highlight-text) pre").forEach(function (box) {
      const lines = box.textContent.split("\n").filter(function (line) { return line.trim(); });
      const gaps = lines.map(function (line) { return line.trim().split(/ {2,}/).length - 1; });
      const aligned = gaps.filter(function (count, at) { return count > 0 || /^ {8,}/.test(lines[at]); }).length, rows = gaps.filter(function (count) { return count > 1; }).length;
      if (lines.length > 1 && (aligned * 2 > lines.length || rows * 5 >= lines.length * 2 || /[─│└┘┌┐]{2}/.test(box.textContent))) { box.classList.add("aligned"); } // titles may stand between rows
    });
  }

  // A table of an output that is too wide by a little fits in smaller letters; on a phone it scrolls anyway.
  function fitTables() {
    document.querySelectorAll(".bd-article pre.aligned").forEach(function (box) {
      box.classList.remove("wide");
      box.classList.toggle("wide", box.clientWidth > 600 && box.scrollWidth > box.clientWidth + 1);
    });
  }

  // A formula that is too wide by up to a third is drawn smaller; a wider one keeps its size and scrolls, or, within a
  // line, where nothing scrolls, is drawn as small as can be read.
  function fitFormulas() {
    const formulas = Array.from(document.querySelectorAll(".bd-article .math > mjx-container"));
    formulas.forEach(function (formula) {
      if (!formula.dataset.size) { formula.dataset.size = formula.style.fontSize || "100%"; } // as MathJax drew it
      formula.style.fontSize = formula.dataset.size;
    });
    const shares = formulas.map(function (formula) { // all are measured before any is changed
      const box = formula.parentElement;
      if (box.tagName === "DIV") {
        return Math.min(formula.clientWidth / formula.scrollWidth, box.clientWidth / box.scrollWidth);
      }
      const room = formula.closest("p, li, td, dd, figcaption");
      return room ? room.clientWidth / formula.getBoundingClientRect().width : 1;
    });
    formulas.forEach(function (formula, at) {
      const share = 0.98 * shares[at], scrolls = share < 0.68 && formula.parentElement.tagName === "DIV";
      if (shares[at] < 0.995 && !scrolls) { formula.style.fontSize = Math.max(0.68, share) * parseFloat(formula.dataset.size) + "%"; }
    });
  }

  // Browsers may begin a new line between a formula and the comma behind it: keep the two together.
  function keepPunctuation() {
    document.querySelectorAll(".bd-article span.math").forEach(function (formula) {
      const next = formula.nextSibling, mark = next && next.nodeType === Node.TEXT_NODE && next.data.match(/^[,.;:!?)\]%’”]+/);
      if (!mark || formula.parentElement.classList.contains("nowrap")) { return; }
      const pair = document.createElement("span");
      pair.className = "nowrap";
      formula.before(pair);
      next.splitText(mark[0].length);
      pair.append(formula, next);
    });
  }

  // On a narrow page a figure goes on to the right, which nobody sees: say so, until it was scrolled once.
  const hints = new Map(); // by box
  function hintAtScrolling() {
    const boxes = ".bd-article figure, .bd-article pre.aligned, .bd-article .concept-map, .bd-article .pst-scrollable-table-container, .bd-article div.math, .bd-article div.math > mjx-container";
    document.querySelectorAll(boxes).forEach(function (box) {
      const fits = box.scrollWidth <= box.clientWidth + 1;
      if (fits && hints.has(box)) { // the page has become wider
        hints.get(box).remove();
        hints.delete(box);
        delete box.dataset.hinted;
      }
      if (fits || hints.has(box)) { return; }
      const hint = document.createElement("span");
      hint.className = "scroll-hint";
      hint.setAttribute("aria-hidden", "true");
      hint.textContent = "scroll to the right →";
      hints.set(box, hint);
      box.dataset.hinted = "true";
      if (box.tagName !== "FIGURE") { (box.closest("div.math") || box).before(hint); } else { box.prepend(hint); } // what is copied stays as it was
      box.addEventListener("scroll", function () { hint.remove(); }, { once: true });
    });
  }

  // The theme gives these parts of the frame no name, or one that differs from what is seen.
  function nameFrame() {
    document.querySelectorAll(".search-button-field[aria-label]").forEach(function (button) { button.removeAttribute("aria-label"); });
    document.querySelectorAll(".navbar-brand .logo__title").forEach(function (title) {
      title.parentElement.querySelectorAll("img").forEach(function (mark) { mark.alt = ""; });
    });
    document.querySelectorAll(".theme-switch-button").forEach(function (button) {
      button.setAttribute("aria-label", ("Colours: " + button.textContent.replace(/\s+/g, " ")).trim());
    });
    const sidebar = document.getElementById("pst-primary-sidebar");
    if (sidebar) {
      sidebar.setAttribute("role", "region");
      sidebar.setAttribute("aria-label", "Contents of the book");
    }
  }

  // Reading mode hides folded code and claims; the reader's choice is kept for the next page.
  function readingMode() {
    const root = document.documentElement, buttons = document.querySelectorAll("button.reading-mode");
    function set(on) {
      root.classList.toggle("reading-mode", on);
      buttons.forEach(function (button) { button.setAttribute("aria-pressed", String(on)); });
    }
    function kept() { try { return localStorage.getItem("reading-mode") === "true"; } catch (error) { return false; } } // storage may be off
    function keep(on) { try { localStorage.setItem("reading-mode", String(on)); } catch (error) { return; } }
    set(kept());
    buttons.forEach(function (button) {
      button.hidden = false;
      button.title = "Hide folded code and the checks of the text";
      button.addEventListener("click", function () {
        const on = !root.classList.contains("reading-mode");
        set(on);
        keep(on);
        markScrollers();
      });
    });
  }

  // The contents of the book are long: bring the page that is open into view.
  function showWhereWeAre() {
    const sidebar = document.getElementById("pst-primary-sidebar");
    const here = sidebar && sidebar.querySelector("li.current.active > a, a.current");
    if (here) { sidebar.scrollTop += here.getBoundingClientRect().top - sidebar.getBoundingClientRect().top - sidebar.clientHeight / 3; }
  }

  function start() {
    nameFrame();
    readingMode();
    showWhereWeAre();
    keepColumns();
    keepPunctuation();
    function widthsChanged() {
      fitTables();
      fitFormulas();
      markScrollers();
      hintAtScrolling();
    }
    widthsChanged();
    window.addEventListener("resize", widthsChanged);
    window.addEventListener("load", widthsChanged); // now figures and letters have their widths
    document.querySelectorAll("details").forEach(function (fold) { fold.addEventListener("toggle", widthsChanged); });
    if (window.MathJax && window.MathJax.startup && window.MathJax.startup.promise) {
      window.MathJax.startup.promise.then(widthsChanged);
    }
  }

  if (document.readyState === "complete") { start(); } else { window.addEventListener("load", start); }
})();
