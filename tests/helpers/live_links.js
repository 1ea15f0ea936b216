// What tests/book/test_live_links.py does, after live_robot.js: moves a live figure, opens its link, and compares.
// `linked(name, start)` is a promise of where the two differ.

// What a reader sees and hears of a figure, as one string: elements, values of controls, and pictures.
function seen(box) {
  const room = box.querySelector(".live-room"), copy = room.cloneNode(true);
  const both = (selector, act) => room.querySelectorAll(selector).forEach((one, i) => act(one, copy.querySelectorAll(selector)[i]));
  both("input", (one, twin) => {
    ["checked", "value", "name"].forEach((name) => twin.removeAttribute(name)); // and in one order
    twin.setAttribute("value", one.value);
    twin.toggleAttribute("checked", one.checked);
  });
  both("canvas", (one, twin) => twin.setAttribute("data-picture", one.toDataURL()));
  copy.querySelectorAll("[tabindex]").forEach((one) => one.removeAttribute("tabindex"));
  copy.querySelectorAll('[class=""]').forEach((one) => one.removeAttribute("class"));
  copy.querySelectorAll(".live-aloud, .live-about, .live-fault").forEach((one) => one.remove());
  return copy.innerHTML.replace(/in \d+ ms/g, "in … ms");
}

async function rested(box) {
  let last = "", now = seen(box);
  for (let i = 0; now !== last && i < 50; i++) {
    await wait(300);
    [last, now] = [now, seen(box)];
  }
  return now;
}

// What an earlier move has replaced is no longer there to be moved.
const each = (box, selector, act) => box.querySelectorAll(selector).forEach((one, n) => one.isConnected && act(one, n));
const MOVES = {
  sliders: (box) => each(box, "input[type=range]", (input, n) => {
    const steps = Math.floor((input.max - input.min) / input.step);
    input.value = Number(input.min) + input.step * Math.max(1, Math.round(steps * (n % 2 ? 0.3 : 0.7)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }),
  choices: (box) => each(box, "fieldset", (group) => group.querySelectorAll("input")[1]?.click()),
  keys: move.keys,
  buttons: (box) => each(box, ".live-room button:not(.live-about button)", (button) => button.click()),
  slidersAgain: (box) => MOVES.sliders(box),
};

async function linked(name, start) {
  const different = [];
  let box = await started(name, start);
  for (const [kind, act] of Object.entries(MOVES).filter(([kind]) => kind !== "buttons" || !GIVEN.drawn)) {
    act(box);
    const moved = await rested(box), here = new URL(box.querySelector(".live-about a").href);
    box.remove();
    history.replaceState(null, "", here.search);
    box = await started(name, start);
    const again = await rested(box);
    if (again !== moved) {
      const at = Array.from(again).findIndex((letter, i) => letter !== moved[i]);
      different.push([kind, moved.slice(Math.max(0, at - 120), at + 120), again.slice(Math.max(0, at - 120), at + 120)]);
    }
  }
  box.remove();
  history.replaceState(null, "", location.pathname);
  return different;
}
