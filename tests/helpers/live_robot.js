// What tests/book/test_live_figures.py does to each live figure: starts it, and moves every control.
// `started(name, start)` is a promise of the figure's element, begun as its page says; `tried(name)` of what it showed.
const faults = [], wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
window.addEventListener("error", (event) => faults.push(event.message));
window.addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
const started = async (name, start) => {
  const box = LIVE.make("div", {
    class: "live", id: "live-" + name, "data-live": name, "data-weights": "", "data-size": "1 MB", "data-start": start,
  });
  const caption = LIVE.make("figcaption", {}, "caption");
  box.append(LIVE.make("figure", { id: "fig-" + name }, LIVE.make("img", { alt: "static" }), caption));
  document.body.append(box);
  LIVE.start();
  box.querySelector(".live-start button:not(:disabled)")?.click(); // a link presses it by itself
  for (let i = 0; i < 400 && !box.dataset.state; i++) { await wait(25); }
  return box;
};

const powers = []; // numbers with an exponent, such as 1.0e+2, that were seen while sliders moved
const typed = (one, key) => one.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const move = {
  sliders: (box) => box.querySelectorAll("input[type=range]").forEach((input) => [input.min, input.max].forEach((value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    powers.push(...(box.textContent.match(/\d(\.\d+)?e[+−-]?\d+/g) || []));
  })),
  choices: (box) => Array.from(box.querySelectorAll("input[type=radio]")).forEach((input) => input.click()),
  keys: (box) => Array.from(box.querySelectorAll("[role=slider], [data-point], .live-words button")).forEach((one) =>
    ["ArrowUp", "ArrowLeft", "ArrowDown", "ArrowRight"].forEach((key) => typed(one, key))),
  buttons: (box) => Array.from(box.querySelectorAll(".live-room button")).slice(0, 60).forEach((button) => button.click()),
};

const hasName = (one) => one.textContent.trim() || one.getAttribute("aria-label") || one.closest("label");

async function tried(name) {
  const box = await started(name), text = (selector) => (box.querySelector(selector) || { textContent: "" }).textContent.trim();
  const seen = {
    state: box.dataset.state, todo: text(".live-room .live-todo"), learned: text(".live-learned p"), about: text(".live-about"),
    said: text(".live-said"), caption: box.querySelector("figure > figcaption") !== null,
    folded: box.querySelector(".live-printed img") !== null,
    unnamed: Array.from(box.querySelectorAll("button, input, [role=slider], [role=button]")).filter((one) => !hasName(one)).length,
  };
  powers.length = 0;
  Object.values(move).forEach((act) => act(box));
  seen.powers = powers.slice();
  const field = box.querySelector("input[type=text]");
  const told = (value) => {
    field.value = value;
    field.form.requestSubmit();
    return text(".live-fault");
  };
  if (field) { Object.assign(seen, { refused: told(""), strange: told("中") }); }
  seen.after = text(".live-said");
  box.remove();
  return seen;
}

// Focuses each control and presses it as a key would; which of them lost the focus. A control that was drawn anew has its name
// again; one that is no longer there hands the focus to another in the room.
async function focusLost(name) {
  const box = await started(name), room = box.querySelector(".live-room"), lost = [];
  const named = (one) => one.tagName + " " + (one.getAttribute("aria-label") || (one.closest("label") || one).textContent).trim();
  const controls = () => Array.from(room.querySelectorAll("button, input:not([type=text]), [role=slider], [data-point]"));
  const press = (one) => {
    if (one.type === "range") {
      one.value = Number(one.value) === Number(one.max) ? one.min : one.max;
      one.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (one.matches("button, input")) {
      one.click();
    } else {
      typed(one, "ArrowUp");
      typed(one, "Delete");
    }
  };
  for (let i = 0; i < Math.min(controls().length, 100); i++) {
    const one = controls()[i], before = named(one);
    one.focus();
    if (document.activeElement !== one) { continue; } // not shown, or it has nothing to do now
    press(one);
    await wait(1);
    const now = document.activeElement, drawnAnew = controls().some((other) => named(other) === before);
    const kept = one.isConnected ? now === one && !one.disabled : drawnAnew ? named(now) === before : now !== room && room.contains(now);
    if (!kept) { lost.push(before + " -> " + named(now).slice(0, 60)); }
  }
  box.remove();
  return lost;
}
