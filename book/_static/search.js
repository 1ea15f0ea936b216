// Search: chapters and the glossary first, solutions last; and excerpts of the text, without buttons, code and signs of formulas.
(function () {
  "use strict";
  if (typeof Scorer === "undefined" || typeof Search === "undefined") { return; } // not the page of results

  const WORTH = [[/^chapters\//, 20], [/^book\/glossary/, 20], [/^book\//, 5], [/^labs\//, 0], [/^solutions\//, -40]];
  const NOT_TEXT = "script, style, nav, .headerlink, .open-notebook, .cell, div.math, .onlyprint, .header-article, .bd-sidebar-secondary, .prev-next-footer";

  const SIGNS = {
    sqrt: "√", approx: "≈", cdot: "·", times: "×", odot: "⊙", top: "ᵀ", sum: "Σ", partial: "∂", in: "∈", le: "≤", ge: "≥", dots: "…", infty: "∞",
    alpha: "α", beta: "β", gamma: "γ", epsilon: "ε", varepsilon: "ε", lambda: "λ", sigma: "σ", tau: "τ", mu: "μ",
  };

  Scorer.score = function (result) {
    const found = WORTH.find(function (entry) { return entry[0].test(result[0]); });
    return result[4] + (found ? found[1] : 0);
  };

  Search.htmlToText = function (htmlString, anchor) {
    const page = new DOMParser().parseFromString(htmlString, "text/html");
    page.querySelectorAll(NOT_TEXT).forEach(function (element) { element.remove(); });
    const article = page.querySelector("article.bd-article") || page.body;
    const part = (anchor && article.querySelector(anchor)) || article;
    return part.textContent.replace(/\\[a-zA-Z]+/g, function (name) { return SIGNS[name.slice(1)] || name; })
      .replace(/√\{([^{}]*)\}/g, "√$1").replace(/\\[()[\]]|\\/g, "").replace(/\s+/g, " ");
  };
})();
