// What tests/book/test_live_layout.py asks: live figures in a frame as narrow as a phone, or as wide as a desk.
// `laidOut(names, width)` is a promise of, by name: what is wider than the frame, lower than a finger, how many tab stops
// there are, which names in planes overlap, which marks lie hidden below another, and which grids are cut off. GIVEN.head: the frame's styles and scripts, GIVEN.robot: live_robot.js.
function inFrame() {
  const tall = (one) => one.getBoundingClientRect().height, name = (one) => (one.getAttribute("aria-label") || one.textContent || one.type).trim().slice(0, 40);
  const shown = (one) => one.getClientRects().length > 0;
  const all = (box, selector) => Array.from(box.querySelectorAll(selector)).filter(shown);
  const rows = "button:not(.live-grid button, .live-heads button), summary, input[type=text], input[type=range], .live-choice label > span, .live-about a, .hit";
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  window.measured = async (figure, start) => {
    const box = await started(figure, start), room = box.querySelector(".live-room"), edge = box.getBoundingClientRect().right;
    await wait(50);
    const stops = all(room, "button, input:not([type=radio]), [tabindex], a[href], summary").filter((one) => one.tabIndex >= 0 && !one.disabled).length;
    const crossed = all(room, ".live-ground").flatMap((ground) => {
      const texts = all(ground, "text").map((text) => [text.textContent, text.getBoundingClientRect()]);
      return texts.flatMap(([a, one], i) => texts.slice(i + 1).filter(([, other]) => overlap(one, other)).map(([b]) => a + " on " + b));
    });
    const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
    const holds = (box, [x, y]) => box.left < x && x < box.right && box.top < y && y < box.bottom;
    const filled = (one) => getComputedStyle(one).fill !== "none";
    const hidden = all(room, ".live-ground svg").flatMap((ground) => {
      const marks = all(ground, "[data-number] > :is(circle:not(.hit), rect)").map((one) => [one, one.getBoundingClientRect()]);
      const above = (i, at) => marks.slice(i + 1).some(([one, box]) => filled(one) && holds(box, at));
      return marks.filter(([, box], i) => above(i, middle(box))).map(([one]) => name(one.parentNode));
    });
    const found = {
      hidden, cut: all(room, ".live-scroll").filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.scrollWidth - one.clientWidth),
      wide: all(room, "*").filter((one) => one.getBoundingClientRect().right > edge + 1 && !one.closest(".live-scroll")).map(name),
      low: all(room, rows).filter((one) => tall(one) < 43.5).map((one) => name(one) + " " + tall(one).toFixed(0)),
      stops: stops + all(room, "fieldset").length, crossed,
    };
    box.remove();
    return found;
  };
}

async function laidOut(figures, width) {
  const frame = LIVE.make("iframe", { width, height: 900, srcdoc: GIVEN.head + "<body class='bd-article'></body>" });
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const inside = frame.contentWindow;
  inside.eval("(" + inFrame + ")();" + GIVEN.robot);
  const found = [];
  for (const [name, start] of figures) { found.push(await inside.eval("measured")(name, start || undefined)); }
  frame.remove();
  return found;
}
