"use strict";
(function () {
  const root = document.documentElement;
  const slides = Array.from(document.querySelectorAll(".slide"));
  const notes = Array.from(document.querySelectorAll(".notes"));
  const smallest = 0.58; // of the usual size of letters
  let now = 0, other = window.opener;

  function shrink(element, full, largest) {
    let size = largest;
    element.style.fontSize = "";
    while (full() && size > largest * smallest) {
      size -= 0.5;
      element.style.fontSize = size + "px";
    }
  }

  function fit(body) {
    body.style.fontSize = "";
    body.querySelectorAll(".formula, .table").forEach((one) => {
      shrink(one, () => one.scrollWidth > one.clientWidth + 1, 26);
    });
    shrink(body, () => body.scrollHeight > body.clientHeight + 1 || body.scrollWidth > body.clientWidth + 1, 26);
  }

  window.fitSlides = () => slides.forEach((slide) => fit(slide.querySelector(".body")));

  function scale() {
    const withNotes = root.classList.contains("with-notes");
    const k = Math.min(innerWidth / 1280, (innerHeight * (withNotes ? 0.6 : 1)) / 720);
    root.style.setProperty("--k", k);
    root.style.setProperty("--below", innerHeight / k - 720 + "px");
  }

  function show(number, tell) {
    now = Math.max(0, Math.min(slides.length - 1, number));
    [slides, notes].forEach((all) => all.forEach((one, at) => one.classList.toggle("now", at === now)));
    history.replaceState(null, "", "#s" + (now + 1));
    if (tell && other && !other.closed) other.postMessage({slide: now}, "*");
  }

  function toggleNotes() {
    root.classList.toggle("with-notes");
    scale();
  }

  function openSpeaker() {
    other = window.open(location.href.split("#")[0] + "#s" + (now + 1), "speaker", "width=1000,height=900");
  }

  const keys = {
    ArrowRight: () => show(now + 1, true), PageDown: () => show(now + 1, true), " ": () => show(now + 1, true),
    ArrowLeft: () => show(now - 1, true), PageUp: () => show(now - 1, true),
    Home: () => show(0, true), End: () => show(slides.length - 1, true),
    n: toggleNotes, s: openSpeaker, p: () => window.print(),
  };

  addEventListener("keydown", (event) => {
    const does = keys[event.key.length > 1 ? event.key : event.key.toLowerCase()];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    does();
  });
  addEventListener("message", (event) => {
    if (event.data && typeof event.data.slide === "number") show(event.data.slide, false);
  });
  addEventListener("resize", scale);
  addEventListener("hashchange", () => show(parseInt(location.hash.slice(2), 10) - 1 || 0, true));
  document.getElementById("back").addEventListener("click", () => show(now - 1, true));
  document.getElementById("next").addEventListener("click", () => show(now + 1, true));
  if (window.name === "speaker") root.classList.add("with-notes");
  scale();
  show(parseInt(location.hash.slice(2), 10) - 1 || 0, false);
  window.fitSlides();
  if (document.fonts) document.fonts.ready.then(window.fitSlides);
})();
