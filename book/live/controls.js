// What live figures are made of on the page: elements, sliders, choices, examples, words that are also read aloud.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {});
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = new Set(["svg", "g", "path", "line", "circle", "rect", "text", "polygon", "polyline", "title"]);

  // make("button", { class: "x", onclick: f, "aria-label": "…" }, children …): an element, of SVG where its name is a shape's.
  function make(tag, attributes = {}, ...children) {
    const made = SHAPES.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => {
      if (name.startsWith("on")) {
        made.addEventListener(name.slice(2), value);
      } else if (value === true) {
        made.setAttribute(name, "");
      } else if (value !== false && value != null) {
        made.setAttribute(name, value);
      }
    });
    made.append(...children.flat().filter((child) => child != null));
    return made;
  }

  // Puts new children into a box. If the focus was inside, it goes to the new element with the same name, else to the one at
  // the same position, else to the figure's room: a reader without a mouse goes on where the press was.
  const STOPS = "button, input, [tabindex]";
  const nameOf = (one) => one.tagName + (one.getAttribute("aria-label") || one.textContent);
  function refill(box, ...children) {
    const before = Array.from(box.querySelectorAll(STOPS)),
      at = before.indexOf(document.activeElement),
      name = at < 0 ? "" : nameOf(before[at]);
    const room = box.closest(".live-room");
    box.replaceChildren(...children.filter((child) => child != null));
    if (at >= 0) {
      const now = Array.from(box.querySelectorAll(STOPS)),
        same = now.filter((one) => nameOf(one) === name);
      const next = same.length === 1 ? same[0] : now[Math.min(at, now.length - 1)];
      (next || room).focus({ preventScroll: true });
    }
  }

  // Makes one tab stop of a grid of buttons with so many columns: arrow keys go from one to the next, Home and End to the ends
  // of the row. The first button drawn begins with the tabindex 0, the others with −1.
  function oneStop(box, columns) {
    const all = () => Array.from(box.querySelectorAll("button"));
    box.addEventListener("focusin", (event) => all().forEach((one) => (one.tabIndex = one === event.target ? 0 : -1)));
    box.addEventListener("keydown", (event) => {
      const at = all().indexOf(event.target),
        column = at % columns,
        ends = { Home: -column, End: columns - 1 - column, ArrowUp: -columns, ArrowDown: columns };
      const by = { ...ends, ArrowLeft: column && -1, ArrowRight: Number(column < columns - 1) }[event.key];
      if (at >= 0 && by !== undefined) {
        event.preventDefault();
        (all()[at + by] || event.target).focus();
      }
    });
    return box;
  }

  // A slider with its name, and its value as `shown` writes it. Its element has a method `set`, which tells nobody.
  function slider(name, { from, to, step, value, shown = String }, changed) {
    const out = make("output", { "aria-hidden": "true" }, shown(value)); // the slider itself is read with its value
    const input = make("input", { type: "range", min: from, max: to, step, value, "aria-valuetext": shown(value) });
    const show = () => {
      out.textContent = shown(Number(input.value));
      input.setAttribute("aria-valuetext", out.textContent);
    };
    input.addEventListener("input", () => {
      show();
      changed(Number(input.value));
    });
    const label = make("label", { class: "live-slider" }, make("span", {}, name), input, out);
    label.set = (number) => {
      input.value = number;
      show();
    };
    return label;
  }

  // One of several, [value, words] each: radio buttons that look like a row of tabs.
  let groups = 0;
  function choice(name, options, chosen, changed) {
    const group = "live-choice-" + ++groups;
    return make(
      "fieldset",
      { class: "live-choice" },
      make("legend", {}, name),
      options.map(([value, words]) => {
        const input = make("input", { type: "radio", name: group, checked: value === chosen, onchange: () => changed(value) });
        return make("label", {}, input, make("span", {}, words));
      }),
    );
  }

  // Buttons side by side, [words, what happens] each; a third entry, true or false, says whether the figure stands as this one sets it.
  const buttons = (...all) =>
    make(
      "p",
      { class: "live-buttons" },
      all.map(([words, act, pressed]) =>
        make("button", { type: "button", "aria-pressed": pressed == null ? null : String(pressed), onclick: act }, words),
      ),
    );

  // A line of the reader's own, with a button and examples that fill it in. `entered(text)` may return a sentence about
  // what it cannot take, which is shown.
  function entry(name, { value, lang, most = 200, button, examples = [] }, entered) {
    const fault = make("p", { class: "live-fault", role: "alert" });
    const field = make("input", {
      type: "text",
      lang,
      value,
      maxlength: most,
      autocomplete: "off",
      spellcheck: "false",
      "aria-invalid": "false",
    });
    const enter = (event) => {
      if (event) {
        event.preventDefault();
      }
      fault.textContent = entered(field.value) || "";
      field.setAttribute("aria-invalid", String(fault.textContent !== ""));
      mark();
    };
    // The example that the field holds is marked as pressed.
    const shown = [],
      mark = () => shown.forEach((one, at) => one.setAttribute("aria-pressed", String(examples[at] === field.value)));
    const form = make(
      "form",
      { class: "live-form", onsubmit: enter },
      make("label", {}, name, field),
      make("button", { type: "submit" }, button),
    );
    const cut = (text) => (text.length > 26 ? text.slice(0, 24).trimEnd() + " …" : text);
    const example = (text) => {
      const fill = () => {
        field.value = text;
        enter();
      };
      return make("button", { type: "button", lang, title: text, onclick: fill }, cut(text));
    };
    shown.push(...examples.map(example));
    mark();
    const list = examples.length ? make("p", { class: "live-examples" }, "Examples: ", shown) : null;
    return { element: make("div", {}, form, list, fault), enter, field };
  }

  const unbroken = (text) => text.replaceAll(" %", "\u00a0%"); // no line begins with its sign

  // The result in words: seen at once, and read aloud when it has rested for half a second. What it says at its start, before
  // it stands on the page, nobody has asked for, so it is not read aloud.
  function words() {
    const seen = make("p", { class: "live-said" }),
      aloud = make("p", { class: "live-aloud", role: "status" });
    let timer = 0;
    const say = (text) => {
      seen.textContent = unbroken(text);
      clearTimeout(timer);
      if (seen.isConnected) {
        timer = setTimeout(() => (aloud.textContent = text), 500);
      }
    };
    return { element: make("div", {}, seen, aloud), say };
  }

  const counted = (count, one, many = one + "s") => count.toLocaleString("en") + " " + (count === 1 ? one : many);
  // “a” (twice), “b”
  const listed = (all) =>
    [...new Set(all)]
      .map((one) => [one, all.filter((other) => other === one).length])
      .map(([one, count]) => "“" + one + "”" + (count > 1 ? " (" + count + " times)" : ""))
      .join(", ");
  const percent = (share) =>
    share >= 0.995 ? "100 %" : share >= 0.0995 ? Math.round(100 * share) + " %" : (100 * share).toFixed(1) + " %";
  // Two digits that count, as people write them: 100, 2.5, 0.032.
  const short = (number) => String(Number(number.toPrecision(2)));
  const signed = (number, digits = 2) => (Math.round(number * 10 ** digits) / 10 ** digits + 0).toFixed(digits).replace("-", "−");

  Object.assign(LIVE, { make, refill, oneStop, slider, choice, buttons, entry, unbroken, words, counted, listed, percent, short, signed });
})(globalThis);
