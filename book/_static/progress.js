// What was read and done, kept in this browser alone: ticks in the contents, a button at the end of chapters and labs, and on the first page
// a link to where the reader was.
(function () {
  "use strict";
  const KEY = "paying-attention-progress", PLACE = "paying-attention-place", BASE = document.currentScript.src.replace(/_static\/.*/, "");
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
    try {
      localStorage.setItem(KEY, pages ? JSON.stringify([...new Set(pages)].sort()) : "off");
      if (!pages) { localStorage.removeItem(PLACE); }
    } catch (error) { return; } // it may be full, or forbidden
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

  const words = (heading) => { const copy = heading.cloneNode(true); copy.querySelectorAll(".headerlink, .hurry-mark").forEach((mark) => mark.remove()); return copy.textContent.trim(); };

  // Where the reader is when the page is left: the last heading that stands above the middle of the window.
  function remember(article) {
    const above = [...article.querySelectorAll("h2, h3")].filter((heading) => heading.getBoundingClientRect().top < innerHeight / 2).pop();
    if (!kept() || !above) { return; } // who has only seen a page's beginning has not begun
    const place = { page: here, title: words(article.querySelector("h1")), section: above.closest("section").id, heading: words(above) };
    try { localStorage.setItem(PLACE, JSON.stringify(place)); } catch (error) { return; }
  }

  function goOn(landing) {
    let place;
    try { place = JSON.parse(localStorage.getItem(PLACE)); } catch (error) { return; }
    if (!kept() || !place || !ours.test(place.page)) { return; }
    const line = document.createElement("p"), link = document.createElement("a");
    line.className = "go-on";
    link.href = BASE + place.page + ".html#" + place.section;
    link.textContent = place.title + ": " + place.heading;
    line.append("Go on where you were: ", link);
    landing.append(line);
  }

  window.PROGRESS = { kept, keep, ours };
  const article = document.querySelector(".bd-article");
  if (article && ours.test(here)) {
    button = document.createElement("button");
    button.className = "progress-button";
    button.textContent = word(here) === "done" ? "I have done this lab" : "I have read this page";
    button.onclick = () => keep(kept().includes(here) ? kept().filter((page) => page !== here) : [...kept(), here]);
    article.append(button);
    addEventListener("pagehide", () => remember(article));
    document.addEventListener("visibilitychange", () => { if (document.hidden) { remember(article); } }); // a phone closes a page without a word
    if (word(here) === "read" && kept() && !kept().includes(here)) { watch(article); }
  }
  const landing = document.querySelector(".bd-article .landing");
  if (landing) { goOn(landing); }
  show();
})();
