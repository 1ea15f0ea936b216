// A square board on which the reader sets, drags and removes points, with the mouse, a finger or the keys.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, percent } = LIVE;
  const SIZE = 400,
    PAD = 18,
    BY = { ArrowLeft: [-0.02, 0], ArrowRight: [0.02, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] };

  // A number from 0 to 1 as a link keeps it.
  LIVE.thousandths = (v) => Math.round(1000 * Math.max(0, Math.min(1, v))) / 1000;

  // The edges of what lies below the points: lines, polygons and polylines; anything else, as a grid in a group, does not count.
  function edges(below) {
    return below.flatMap((one) => {
      const at = (...names) => names.map((name) => Number(one.getAttribute(name)));
      if (one.tagName === "line") {
        return [[at("x1", "y1"), at("x2", "y2")]];
      }
      const stops = (one.getAttribute("points") || "").split(" ").map((stop) => stop.split(",").map(Number));
      return stops
        .slice(1)
        .map((stop, n) => [stops[n], stop])
        .concat(one.tagName === "polygon" ? [[stops.at(-1), stops[0]]] : []);
    });
  }
  function away([x, y], [[x1, y1], [x2, y2]]) {
    const [dx, dy] = [x2 - x1, y2 - y1],
      share = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
  }
  // Where a point's name stands: of eight sides the first that no edge comes near, or the best.
  const SIDES = [1, 0, 2, 7, 3, 6, 4, 5].map((n) => [18 * Math.cos((n * Math.PI) / 4), -18 * Math.sin((n * Math.PI) / 4)]);
  function named([x, y], lines) {
    const free = SIDES.map(([dx, dy]) => Math.min(14, ...lines.map((line) => away([x + dx, y + dy], line)))),
      [dx, dy] = SIDES[free.indexOf(Math.max(...free))];
    return { x: x + dx, y: y + dy + 6, "text-anchor": "middle" };
  }

  // `points()` gives [x, y] each, from 0 to 1; `set(points)` takes over what the reader changed; `most` points fit. The start
  // (`isStart(n)`) is a square. All points are one tab stop. Returns { element, draw(chances, …what lies below), xy }.
  LIVE.pointBoard = function ({ points, set, most, isStart }) {
    let dragged = null,
      active = 0; // the point that is reached with the Tab key
    const xy = ([x, y]) => [x * SIZE, (1 - y) * SIZE];
    const move = (n, point) => set(points().toSpliced(n, 1, point));

    const at = (event) => {
      const box = element.getBoundingClientRect(),
        scale = (SIZE + 2 * PAD) / box.width,
        along = (from, corner) => ((from - corner) * scale - PAD) / SIZE;
      return [along(event.clientX, box.left), 1 - along(event.clientY, box.top)].map(LIVE.thousandths);
    };
    // Of points that lie close together, the nearest is meant, and not the one drawn last.
    const down = (event) => {
      const all = points(),
        here = at(event),
        far = all.map(([x, y]) => Math.hypot(x - here[0], y - here[1])),
        near = event.target.closest("[data-point]");
      if (!near && all.length >= most) {
        return;
      }
      dragged = active = near ? far.indexOf(Math.min(...far)) : all.length;
      element.setPointerCapture(event.pointerId);
      if (!near) {
        set([...all, here]);
      }
    };
    const element = make("svg", {
      viewBox: [-PAD, -PAD, SIZE + 2 * PAD, SIZE + 2 * PAD].join(" "),
      class: "live-board",
      role: "group",
      "aria-label": "Your points",
      onpointerdown: down,
      onpointermove: (event) => dragged !== null && move(dragged, at(event)),
      onpointerup: () => (dragged = null),
      onpointercancel: () => (dragged = null),
    });

    function key(event, n) {
      const other = { PageDown: n + 1, PageUp: n - 1, Home: 0, End: points().length - 1 }[event.key];
      if (other !== undefined) {
        active = (other + points().length) % points().length;
        element.querySelectorAll("[data-point]").forEach((mark, i) => mark.setAttribute("tabindex", i === active ? 0 : -1));
        element.querySelector('[data-point="' + active + '"]').focus();
      } else if (event.key === "Delete" || event.key === "Backspace") {
        set(points().toSpliced(n, 1));
      } else if (event.key in BY) {
        move(
          n,
          points()[n].map((v, i) => LIVE.thousandths(v + BY[event.key][i])),
        );
      } else {
        return;
      }
      event.preventDefault();
    }
    function dot(point, n, chance, lines) {
      const [x, y] = xy(point),
        first = isStart(n);
      return make(
        "g",
        {
          "data-point": n,
          tabindex: n === active ? 0 : -1,
          role: "button",
          "aria-label":
            "point " + n + (first ? ", the start" : "") + ", from the left " + percent(point[0]) + ", from below " + percent(point[1]),
          "aria-description": "Arrow keys move it, Delete removes it, Page Up and Page Down choose another.",
          onkeydown: (event) => key(event, n),
          onfocus: () => (active = n),
        },
        make("circle", { cx: x, cy: y, r: 4 + 22 * Math.sqrt(chance), class: "chance" }),
        make("circle", { cx: x, cy: y, r: 22, class: "hit" }),
        first ? make("rect", { x: x - 8, y: y - 8, width: 16, height: 16 }) : make("circle", { cx: x, cy: y, r: 6 }),
        make("text", { ...named([x, y], lines), "aria-hidden": "true" }, n),
      );
    }

    // Draws all points, each with its chance to be chosen next, and gives the focus back to the one that had it.
    function draw(chances, ...below) {
      const held = element.contains(document.activeElement),
        lines = edges(below);
      active = Math.max(0, Math.min(active, points().length - 1));
      element.replaceChildren(...below, ...points().map((point, n) => dot(point, n, chances[n] || 0, lines)));
      if (held) {
        element.querySelector('[data-point="' + active + '"]')?.focus({ preventScroll: true });
      }
    }
    return { element, draw, xy };
  };
})(globalThis);
