// Previews: a term, paper, equation, figure, table or section is shown where it is named. The pieces are scripts, so they come from the disk, too.
(function () {
  "use strict";
  const LINKS = ".bd-article a.reference.internal[href*='#']:not(.headerlink)", BASE = document.currentScript.src.replace(/_static\/.*/, "");
  const known = {}, waiting = {}; // by page: its pieces, by anchor; and what is to be done once they are there
  let box, shown, timer, touched;

  window.PREVIEWS = function (page, pieces) { known[page] = pieces; };

  function load(address, then) {
    const script = document.createElement("script");
    script.src = BASE + "_static/" + address;
    script.onload = script.onerror = then;
    document.head.append(script);
  }

  // Calls `then` with the piece that a link leads to, or with nothing.
  function piece(link, then) {
    const [page, anchor] = link.href.slice(BASE.length).split(/\.html[^#]*#/);
    const done = function () { then((known[page] || {})[decodeURIComponent(anchor)]); };
    if (known[page]) { done(); } else if (waiting[page]) { waiting[page].push(done); } else {
      waiting[page] = [done];
      load("previews/" + page.replaceAll("/", "-") + ".js", function () {
        known[page] = known[page] || {};
        waiting[page].forEach(function (one) { one(); });
      });
    }
  }

  function hide() {
    clearTimeout(timer);
    if (shown) { shown.removeAttribute("aria-describedby"); box.remove(); }
    shown = null;
  }

  function place() {
    const at = shown.getBoundingClientRect(), room = document.documentElement.clientWidth, below = at.bottom + box.offsetHeight + 8 < innerHeight;
    box.style.left = Math.max(8, Math.min(at.left, room - box.offsetWidth - 8)) + "px";
    box.style.top = Math.max(8, Math.min(below ? at.bottom + 4 : at.top - box.offsetHeight - 4, innerHeight - box.offsetHeight - 8)) + "px";
    if (at.bottom < 0 || at.top > innerHeight) { hide(); } // it was scrolled away
  }

  function typeset() {
    if (!box.querySelector(".math")) { return; }
    const draw = function () {
      const drawn = box;
      if (!MathJax.startup.promise) { setTimeout(draw, 50); return; } // its script is still on its way
      MathJax.startup.promise.then(function () { return MathJax.typesetPromise([drawn]); }).then(function () { if (shown) { place(); } });
    };
    if (window.MathJax) { draw(); return; }
    window.MathJax = { options: { enableMenu: false }, startup: { typeset: false } }; // a page without formulas of its own
    load("mathjax/tex-chtml.js", draw);
  }

  function show(link, html, touch) {
    hide();
    box = document.createElement("div");
    box.id = "preview";
    box.setAttribute("role", touch ? "dialog" : "tooltip");
    box.innerHTML = html.replaceAll('src="/', 'src="' + BASE);
    if (touch) { // a finger has no hover: the first tap shows, and this leads on
      const go = document.createElement("a"), close = document.createElement("button");
      go.href = link.href;
      go.textContent = "Go there";
      close.textContent = "Close";
      close.onclick = hide;
      box.setAttribute("aria-label", "Preview");
      box.append(go, close);
    } else { link.setAttribute("aria-describedby", "preview"); }
    link.removeAttribute("title"); // the browser would show it on top
    shown = link;
    link.closest(".bd-article").append(box);
    place();
    typeset();
  }

  function soon(link) {
    clearTimeout(timer);
    if (link === shown) { return; }
    timer = setTimeout(function () { piece(link, function (html) { if (html && (link.matches(":hover") || link === document.activeElement)) { show(link, html); } }); }, 250);
  }

  const linkOf = function (event) { return event.target.closest && event.target.closest(LINKS); };
  const on = function (name, then) { document.addEventListener(name, then, true); };
  on("pointerdown", function (event) {
    touched = event.pointerType === "touch";
    if (shown && !box.contains(event.target) && linkOf(event) !== shown) { hide(); }
  });
  on("pointerover", function (event) {
    if (event.pointerType === "touch") { return; }
    const link = linkOf(event);
    if (link) { soon(link); } else if (shown && box.contains(event.target)) { clearTimeout(timer); } else {
      clearTimeout(timer);
      if (shown && shown !== document.activeElement) { timer = setTimeout(hide, 250); } // time to move into the preview
    }
  });
  on("focusin", function (event) { const link = linkOf(event); if (link && link.matches(":focus-visible")) { soon(link); } });
  on("focusout", function (event) { if (event.target === shown && box.getAttribute("role") === "tooltip") { hide(); } });
  on("keydown", function (event) { if (event.key === "Escape" && shown) { const link = shown; hide(); if (touched) { link.focus(); } } });
  on("click", function (event) {
    const link = linkOf(event);
    if (shown && box.contains(event.target)) { return; }
    if (!link || link === shown) { hide(); return; }
    if (!touched || event.detail === 0) { return; }
    event.preventDefault();
    piece(link, function (html) { if (html) { show(link, html, true); } else { location.href = link.href; } });
  });
  window.addEventListener("scroll", function () { if (shown && box.getAttribute("role") === "tooltip") { place(); } }, { passive: true });
})();
