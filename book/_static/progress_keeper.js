// On the page "How to use this book": saves what was read and done as a file, reads such a file, and forgets.
(function () {
  "use strict";
  const box = document.getElementById("progress-keeper");
  if (!box || !window.PROGRESS) { return; }
  const made = (tag, more) => Object.assign(document.createElement(tag), more);
  const said = made("p"), file = made("input", { type: "file", accept: ".json,application/json", hidden: true });
  const keeping = made("input", { type: "checkbox", id: "progress-keeping" }), label = made("label", { htmlFor: "progress-keeping", textContent: " Keep in this browser what I have read and done" });
  const save = made("button", { type: "button", textContent: "Save as a file" }), read = made("button", { type: "button", textContent: "Read from a file" });
  said.setAttribute("role", "status");

  function show(more) {
    const pages = PROGRESS.kept(), count = (folder) => pages.filter((page) => page.startsWith(folder)).length;
    keeping.checked = Boolean(pages);
    save.disabled = read.disabled = !pages;
    said.textContent = (more || "") + (pages ? "Ticked: " + count("chapters/") + " of chapters and their evidence, " + count("labs/") + " of labs." : "Nothing is kept.");
  }

  keeping.onchange = function () {
    PROGRESS.keep(keeping.checked ? [] : null);
    show(keeping.checked || PROGRESS.kept() ? "" : "All ticks were deleted. ");
  };
  save.onclick = function () {
    const link = made("a", { download: "paying-attention-progress.json", href: "data:application/json," + encodeURIComponent(JSON.stringify({ pages: PROGRESS.kept() })) });
    link.click();
  };
  read.onclick = () => file.click();
  file.onchange = async function () {
    let pages;
    try { pages = JSON.parse(await file.files[0].text()).pages.filter((page) => typeof page === "string" && PROGRESS.ours.test(page)); } catch (error) {
      show("This file holds no progress: it should be one that “Save as a file” wrote. ");
      return;
    }
    PROGRESS.keep([...PROGRESS.kept(), ...pages]);
    file.value = "";
    show("The file was read. ");
  };
  const line = made("p");
  line.append(keeping, label);
  box.append(line, save, " ", read, file, said);
  show();
})();
