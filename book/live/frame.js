// Starts the live figures of a page. Each stands in an element with data-live="NAME", around the static figure, which
// stays for print, for pages without scripts, and folded for readers who want to compare.
(function (root) {
  "use strict";
  const LIVE = (root.LIVE = root.LIVE || {}),
    figures = new Map();

  // A figure: { title, todo, about, learned, says, button, packs, defaults, draw(room, state, kept, ...packs) }. `state` is what
  // the link says, else what the page says in data-start, else the defaults; `kept(changes)` puts changes into the link that keeps
  // the state. `says(state)`, if any, gives other texts for a start that differs; `button` says what a click loads, if no model.
  LIVE.figure = (name, parts) => figures.set(name, { packs: [], defaults: {}, ...parts });

  // kind:dot;beta:3 as an object: numbers where the default is a number, lists of numbers where it is a list.
  function stateOf(written, defaults) {
    const state = structuredClone(defaults);
    (written || "").split(";").forEach((part) => {
      const colon = part.indexOf(":"),
        key = part.slice(0, colon),
        text = decodeURIComponent(part.slice(colon + 1));
      if (!(key in defaults)) {
        return;
      }
      const list = () => (text === "" ? [] : text.split(",").map(Number));
      const parsed = Array.isArray(defaults[key]) ? list() : typeof defaults[key] === "number" ? Number(text) : text;
      if (![parsed].flat().some(Number.isNaN)) {
        state[key] = parsed;
      }
    });
    return state;
  }

  // A link holds what differs from the start.
  const linkOf = (name, state, start, anchor) =>
    "?" +
    name +
    "=" +
    encodeURIComponent(
      Object.entries(state)
        .filter(([key, value]) => String(value) !== String(start[key]))
        .map(([key, value]) => key + ":" + encodeURIComponent(value))
        .join(";"),
    ) +
    "#" +
    anchor;

  const { make } = LIVE;

  const headOf = ({ todo, title }, when = "What to do. ") => [
    make("p", { class: "live-title" }, title),
    make("p", { class: "live-todo" }, make("strong", {}, when), todo),
  ];
  // The figure with the words that it has for this start.
  const wordsOf = (figure, start) => ({ ...figure, ...figure.says?.(start) });

  // Draws the figure into a room of its own, with its words above and below, and a way back.
  async function drawn(box, name) {
    const figure = figures.get(name),
      packs = await Promise.all(figure.packs.map((pack) => LIVE.load(pack, box.dataset.weights)));
    const start = stateOf(box.dataset.start, figure.defaults),
      { title, todo, learned, about } = wordsOf(figure, start);
    const room = make("div", { class: "live-room", role: "group", tabindex: -1, "aria-label": title });
    async function begin(state) {
      const inner = make("div", {}),
        anchor = (box.querySelector("figure[id]") || box).id;
      const link = make("a", { href: linkOf(name, state, start, anchor) }, "Link that keeps this state");
      const kept = (changes) => (link.href = linkOf(name, Object.assign(state, changes), start, anchor));
      await figure.draw(inner, state, kept, ...packs);
      const startAgain = async () => {
        await begin(structuredClone(start));
        room.querySelector(".live-about button").focus();
        setTimeout(
          () => room.querySelectorAll(".live-aloud").forEach((one) => (one.textContent = one.previousSibling?.textContent || "")),
          500,
        );
      };
      const again = make("button", { type: "button", onclick: startAgain }, "Start again");
      room.replaceChildren(
        ...headOf({ title, todo }),
        inner,
        make("details", { class: "live-learned" }, make("summary", {}, "Now you know …"), make("p", {}, learned)),
        make("p", { class: "live-about" }, about + " ", again, " ", link),
      );
    }
    try {
      await begin(stateOf(new URLSearchParams(location.search).get(name), start));
    } catch {
      await begin(structuredClone(start)); // fails as well where it wasn't the link
      room.prepend(make("p", { class: "live-fault", role: "alert" }, "The state in this link can't be shown, so this is the beginning."));
    }
    return room;
  }

  // The room comes in front of the figure's picture, and the picture into a fold.
  function place(box, room) {
    const still = box.querySelector("figure") || box,
      caption = still.querySelector("figcaption");
    if (!box.querySelector("img, svg")) {
      // only a sentence, for readers without scripts and for print
      const sentence = make("div", { class: "live-sentence" });
      sentence.append(...box.childNodes);
      box.append(room, sentence);
      return;
    }
    const fold = make("details", { class: "live-printed" }, make("summary", {}, "The printed figure"));
    fold.append(...Array.from(still.childNodes).filter((child) => child !== caption && !child.matches?.(".live-offer")));
    still.prepend(room, fold);
  }

  async function run(box) {
    box.setAttribute("aria-busy", "true");
    try {
      place(box, await drawn(box, box.dataset.live));
      box.dataset.state = "running";
      return true;
    } catch (error) {
      box.dataset.state = "failed";
      box.append(
        make(
          "p",
          { class: "live-fault", role: "alert" },
          "The live figure doesn't run here: " + error.message + ". The printed figure stays.",
        ),
      );
      return false;
    } finally {
      box.removeAttribute("aria-busy");
    }
  }

  // Large weights are loaded when the reader says so, and knows what for.
  function offer(box) {
    const figure = figures.get(box.dataset.live),
      head = figure ? headOf(wordsOf(figure, stateOf(box.dataset.start, figure.defaults)), "What to do, once it runs. ") : [];
    const bar = make("progress", { "aria-label": "loading the weights", hidden: true });
    const button = make(
      "button",
      {
        type: "button",
        onclick: async () => {
          bar.hidden = false;
          button.disabled = true;
          box.querySelectorAll(".live-fault").forEach((one) => one.remove());
          if (await run(box)) {
            offered.remove();
            box.querySelector(".live-room").focus(); // where the button was, nothing is any more
          } else {
            bar.hidden = true;
            button.disabled = false;
          }
        },
      },
      figure?.button || "Run the model here",
    );
    const line = make("p", { class: "live-start" }, button, make("small", {}, " loads " + box.dataset.size + " once, works offline"), bar);
    const offered = make("div", { class: "live-offer" }, ...head, line);
    box.prepend(offered);
    if (new URLSearchParams(location.search).has(box.dataset.live)) {
      button.click();
    }
  }

  LIVE.start = () =>
    document.querySelectorAll("[data-live]").forEach((box) => {
      if (box.dataset.size) {
        offer(box);
        return;
      }
      new IntersectionObserver(
        (seen, observer) => {
          if (seen.some((one) => one.isIntersecting)) {
            observer.disconnect();
            run(box);
          }
        },
        { rootMargin: "600px" },
      ).observe(box);
    });
  document.addEventListener("DOMContentLoaded", LIVE.start); // after all deferred scripts, so every figure is known
})(globalThis);
