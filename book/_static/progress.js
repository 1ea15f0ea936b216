// What was read and done, kept in this browser alone: ticks in the contents, and a button at the end of chapters and labs.
(function () {
  "use strict";
  const KEY = "paying-attention-progress", BASE = document.currentScript.src.replace(/_static\/.*/, "");
  const pageOf = (address) => address.slice(BASE.length).replace(/\.html.*/, ""), word = (page) => (page.startsWith("labs/") ? "done" : "read");
  const here = pageOf(location.href), ours = /^(chapters|labs)\//;
  let button;

  // The pages that are ticked; null where nothing is to be kept, or the browser keeps nothing.
  function kept() {
    try {
      const text = localStorage.getItem(KEY) || "[]";
      return text === "off" ? null : JSON.parse(text).filter((page) => ours.test(page));
    } catch (error) { return null; }
  }

  function keep(pages) {
    try { localStorage.setItem(KEY, pages ? JSON.stringify([...new Set(pages)].sort()) : "off"); } catch (error) { return; } // it may be full, or forbidden
    show();
  }

  function show() {
    const pages = kept();
    document.querySelectorAll(".bd-sidebar-primary nav a").forEach((link) => {
      const page = pageOf(link.href || "");
      if (pages && pages.includes(page)) { link.dataset.progress = word(page); } else { delete link.dataset.progress; }
    });
    if (button) {
      button.hidden = !pages;
      button.setAttribute("aria-pressed", String(Boolean(pages) && pages.includes(here)));
    }
  }

  // A chapter is read when each of its headings was on the screen; a lab is done when its reader says so.
  function watch(article) {
    const unseen = new Set(article.querySelectorAll("h2"));
    if (!window.IntersectionObserver || !unseen.size) { return; }
    const observer = new IntersectionObserver((entries) => {
      entries.forEach((entry) => { if (entry.isIntersecting) { unseen.delete(entry.target); } });
      if (!unseen.size) {
        observer.disconnect();
        if (kept()) { keep([...kept(), here]); }
      }
    });
    unseen.forEach((heading) => observer.observe(heading));
  }

  window.PROGRESS = { kept, keep, ours };
  const article = document.querySelector(".bd-article");
  if (article && ours.test(here)) {
    button = document.createElement("button");
    button.className = "progress-button";
    button.textContent = word(here) === "done" ? "I have done this lab" : "I have read this page";
    button.onclick = () => keep(kept().includes(here) ? kept().filter((page) => page !== here) : [...kept(), here]);
    article.append(button);
    if (word(here) === "read" && kept() && !kept().includes(here)) { watch(article); }
  }
  show();
})();
