// The title says to whoever started the print that all formulas stand, and whether this machine has Chinese letters.
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

window.MathJax = {
  options: { enableMenu: false, processHtmlClass: "tex2jax_process|mathjax_process|math|output_area" },
  chtml: { matchFontHeight: false, scale: 1.05 },
  startup: {
    pageReady: () =>
      MathJax.startup.defaultPageReady().then(() => {
        const chinese = hasChinese();
        if (!chinese) document.querySelectorAll('[lang="zh-Hans"]').forEach((word) => word.remove());
        document.title = chinese ? TITLE : `${TITLE} [no Chinese]`;
      }),
  },
};
