// When all formulas stand, what is too wide is made smaller, and the title becomes a report to whoever prints the page.
function hasChinese() {
  const drawn = (letter) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 40;
    const pen = canvas.getContext("2d");
    pen.font = "30px serif";
    pen.fillText(letter, 2, 32);
    return canvas.toDataURL();
  };
  return drawn("注") !== drawn("意"); // two boxes look alike
}

function shrinkWhatIsWide() {
  for (const inside of document.querySelectorAll(".page table, .page div.math > mjx-container")) {
    const room = inside.parentElement;
    if (room.scrollWidth > room.clientWidth + 1) inside.style.zoom = room.clientWidth / room.scrollWidth;
  }
}

function stillWide() {
  const end = document.body.getBoundingClientRect().right + 2;
  const wide = [...document.querySelectorAll(".page :is(table, pre, img, p, mjx-container, .concept-map > svg)")]
    .filter((box) => box.getBoundingClientRect().right > end)
    .map((box) => box.closest("[id]").id);
  return [...new Set(wide)];
}

window.MathJax = {
  options: { enableMenu: false, processHtmlClass: "tex2jax_process|mathjax_process|math|output_area" },
  chtml: { matchFontHeight: false, scale: 1.05 },
  startup: {
    pageReady: () =>
      MathJax.startup.defaultPageReady().then(() => {
        const chinese = hasChinese();
        if (!chinese) document.querySelectorAll('[lang="zh-Hans"]').forEach((word) => word.remove());
        shrinkWhatIsWide();
        document.title = JSON.stringify({ chinese, wide: stillWide() });
      }),
  },
};
