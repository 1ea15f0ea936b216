// A plane with points that can be dragged, and moved with the arrow keys; their names keep clear of each other.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make } = LIVE;
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] },
    OTHERS = { PageUp: -1, PageDown: 1 };
  const HALF = 160, // of the drawing's width, in its own units
    EDGE = 13, // that a point keeps clear
    FINGER = 24, // as far as one reaches
    LETTER = 11,
    PILE = 6, // points that are so near lie on each other
    LINE = 20; // of a name: about how wide a letter, and how high a line is

  // How much two boxes [left, top, right, bottom] overlap.
  const overlap = (a, b) =>
    Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const between = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const area = (box) => (box[2] - box[0]) * (box[3] - box[1]);

  // Where a name may stand beside its mark, and how gladly: above, below, right, left, and at the corners. Each: [x, y of its
  // middle, what it costs].
  const beside = ({ at: [x, y], radius, long, low }, line) => {
    const away = radius + 4 + line / 2,
      aside = radius + 6 + long / 2,
      [corner, near] = [aside - 4, away - 4];
    return [
      [x, y - away, low ? 1 : 0],
      [x, y + away, low ? 0 : 1],
      [x + aside, y, 2],
      [x - aside, y, 2],
      ...[-1, 1].flatMap((up) => [-1, 1].map((side) => [x + side * corner, y + up * near, 3])),
    ];
  };

  // Places names one after the other, each where it covers least. `marks`: { at, radius, long (of the name), low (rather below) }.
  // `half` is half the drawing's width and height, with the middle at 0. A name of which less than the part `least` would lie free
  // gets no place (null).
  LIVE.placeNames = function (marks, { half = [HALF, HALF], line = LINE, least = -Infinity } = {}) {
    const drawing = [-half[0], -half[1], ...half],
      taken = marks.map(({ at: [x, y], radius }) => [x - radius, y - radius, x + radius, y + radius]);
    return marks.map((mark) => {
      if (!mark.long) {
        return null;
      }
      const boxOf = ([x, y]) => [x - mark.long / 2, y - line / 2, x + mark.long / 2, y + line / 2];
      const tried = beside(mark, line).map(([x, y, dear]) => {
        const box = boxOf([x, y]);
        const covered = taken.reduce((sum, other) => sum + overlap(box, other), 0) + 3 * (area(box) - overlap(box, drawing));
        return { at: [x, y], covered, cost: covered + dear };
      });
      const best = tried.reduce((a, b) => (b.cost < a.cost ? b : a)),
        within = (v, most) => Math.max(-most, Math.min(most, v)); // a name at the edge moves in
      if (best.covered > (1 - least) * mark.long * line) {
        return null;
      }
      const at = [within(best.at[0], half[0] - mark.long / 2), within(best.at[1], half[1] - line / 2)];
      taken.push(boxOf(at));
      return at;
    });
  };

  // `points`: { name, spoken (if it is read in another way), at: [x, y], kind ("key", "query", "value", "target", "context"), hue, fixed }. `moved(number, at)` after each move.
  // The plane reaches from its middle `range` to each side. All points are one tab stop. Returns { element, ground (a canvas
  // behind), under (a group below the points), show(number, { at, radius, words }), where the radius of a square is half its
  // side, xy(at), middle, range }.
  LIVE.plane = function ({ label, middle = [0, 0], range, points, moved }) {
    const unit = HALF / range,
      inside = range * (1 - EDGE / HALF), // so that no mark is cut in half
      limited = (v, i) => Math.max(middle[i] - inside, Math.min(middle[i] + inside, v)),
      xy = (at) => [(at[0] - middle[0]) * unit, (middle[1] - at[1]) * unit];
    const ground = make("canvas", { width: 48, height: 48, "aria-hidden": "true" }),
      under = make("g"),
      free = points.map((_, n) => n).filter((n) => !points[n].fixed);
    const marks = points.map((point, number) => {
      const shape = point.kind === "value" ? make("rect", { width: 22, height: 22, x: -11, y: -11, rx: 3 }) : make("circle", { r: 11 });
      const hit = point.fixed ? null : make("circle", { r: FINGER, class: "hit" });
      const name = point.fixed ? null : make("text", { "text-anchor": "middle", "aria-hidden": "true" }, point.name);
      const reach = point.fixed
        ? { "aria-hidden": "true" }
        : {
            tabindex: number === free[0] ? 0 : -1,
            role: "slider",
            "aria-label": point.spoken || point.name,
            "aria-description": "Arrow keys move it; Page Up and Page Down choose another point.",
            "aria-valuenow": 0,
            onkeydown: (event) => pressed(event, number),
            onfocus: () => marks.forEach((mark, n) => points[n].fixed || mark.all.setAttribute("tabindex", n === number ? 0 : -1)),
          };
      const all = make(
        "g",
        { class: "live-point is-" + point.kind, style: "--hue:" + point.hue, "data-number": number, ...reach },
        hit,
        shape,
        name,
      );
      return { all, shape, name, radius: 12 };
    });

    function pressed(event, number) {
      if (event.key in OTHERS) {
        const next = free.indexOf(number) + OTHERS[event.key];
        marks[free[(next + free.length) % free.length]].all.focus();
      } else if (event.key in KEYS) {
        const by = (event.shiftKey ? 4 : 1) * (range / 32);
        moved(
          number,
          points[number].at.map((v, i) => limited(v + by * KEYS[event.key][i], i)),
        );
      } else {
        return;
      }
      event.preventDefault();
    }

    let dragged = null,
      from = null, // where it was pressed, until it moves
      rested = -1; // which was pressed last, and did not move
    const toPlane = (event) => {
      const box = drawing.getBoundingClientRect(),
        scale = (2 * range) / box.width;
      const at = [(event.clientX - box.left) * scale - range, range - (event.clientY - box.top) * scale];
      return at.map((v, i) => limited(v + middle[i], i));
    };
    const down = (event) => {
      const mark = event.target.closest("[data-number]");
      if (!mark) {
        return;
      }
      // the nearest, or, of points that lie on each other, the one after that which was pressed before
      from = xy(toPlane(event));
      const far = (n) => between(xy(points[n].at), from),
        near = free.filter((n) => far(n) <= FINGER).sort((a, b) => far(a) - far(b) || b - a),
        pile = near.length ? near.filter((n) => far(n) < far(near[0]) + PILE) : [Number(mark.dataset.number)];
      rested = dragged = pile[(pile.indexOf(rested) + 1) % pile.length];
      marks[dragged].all.focus({ preventScroll: true });
      drawing.setPointerCapture(event.pointerId);
      event.preventDefault();
    };
    const drag = (event) => {
      const at = toPlane(event);
      if (dragged !== null && (!from || between(xy(at), from) > 3)) {
        from = null;
        rested = -1;
        moved(dragged, at);
      }
    };
    const [left, top] = xy([0, 0]);
    const drawing = make(
      "svg",
      {
        viewBox: [-HALF, -HALF, 2 * HALF, 2 * HALF].join(" "),
        role: "group",
        "aria-label": label,
        onpointerdown: down,
        onpointermove: drag,
        onpointerup: () => (dragged = null),
        onpointercancel: () => (dragged = null),
      },
      make("line", { x1: -HALF, x2: HALF, y1: top, y2: top, class: "axis" }),
      make("line", { x1: left, x2: left, y1: -HALF, y2: HALF, class: "axis" }),
      under,
      marks.map((mark) => mark.all),
    );

    function name() {
      const placed = LIVE.placeNames(
        marks.map((mark, n) => {
          const { name: text = "", at, fixed, kind } = points[n],
            [x, y] = xy(at);
          // a mark around this one keeps its name away, too
          const around = marks.map((other, m) => {
            const [x2, y2] = xy(points[m].at),
              far = between([x, y], [x2, y2]);
            return far < other.radius ? far + other.radius : 0;
          });
          return { at: [x, y], radius: Math.max(...around), long: fixed ? 0 : LETTER * text.length, low: kind === "query" };
        }),
      );
      placed.forEach((at, n) => {
        if (at) {
          const [x, y] = xy(points[n].at);
          marks[n].name.setAttribute("x", (at[0] - x).toFixed(1));
          marks[n].name.setAttribute("y", (at[1] - y + 6).toFixed(1));
        }
      });
    }

    function show(number, { at, radius, words }) {
      const mark = marks[number];
      points[number].at = at;
      mark.all.setAttribute("transform", "translate(" + xy(at).join(" ") + ")");
      if (radius && mark.shape.tagName === "circle") {
        mark.radius = radius;
        mark.shape.setAttribute("r", radius);
      } else if (radius) {
        ["x", "y"].forEach((name) => mark.shape.setAttribute(name, -radius));
        ["width", "height"].forEach((name) => mark.shape.setAttribute(name, 2 * radius));
      }
      if (words) {
        mark.all.setAttribute("aria-valuetext", words);
      }
      name();
      const piled = free.some((n) => free.some((m) => m < n && between(xy(points[n].at), xy(points[m].at)) < PILE));
      element.classList.toggle("is-piled", piled);
      keys.textContent = piled
        ? "Two points overlap: a second press, or Page Down, takes the other one."
        : "Arrow keys move a point; Page Up and Page Down choose another.";
    }
    const keys = make("p", { class: "live-keys" });
    const element = make(
      "div",
      { class: "live-plane", onkeyup: () => element.classList.add("by-keys"), onpointerdown: () => element.classList.remove("by-keys") },
      make("div", { class: "live-ground" }, ground, drawing),
      keys,
    );
    return { element, ground, under, show, xy, middle, range };
  };

  // A line of a plane from one place to another.
  LIVE.planeLine = function (plane, from, to, attributes) {
    const [x1, y1] = plane.xy(from),
      [x2, y2] = plane.xy(to);
    return make("line", { x1, y1, x2, y2, ...attributes });
  };

  // x and y of each point, out of a list of numbers.
  LIVE.pairs = (numbers) => Array.from({ length: numbers.length / 2 }, (_, n) => numbers.slice(2 * n, 2 * n + 2));

  // Colours a plane's ground: `shares(at)` gives one share per hue. Returns the part of the plane in which each is the largest.
  LIVE.colour = function ({ ground, middle, range }, hues, shares) {
    const pen = ground.getContext("2d"),
      { width } = ground,
      image = pen.createImageData(width, width),
      largest = hues.map(() => 0);
    const channel = (hue, n) => 255 * (0.55 - 0.3 * Math.max(-1, Math.min(((n + hue / 30) % 12) - 3, 9 - ((n + hue / 30) % 12), 1)));
    const colours = hues.map((hue) => [0, 8, 4].map((n) => channel(hue, n)));
    const step = (n) => range * ((2 * n + 1) / width - 1);
    for (let i = 0; i < width * width; i++) {
      const found = shares([middle[0] + step(i % width), middle[1] - step(Math.floor(i / width))]);
      largest[found.indexOf(Math.max(...found))] += 1 / (width * width);
      [0, 1, 2].forEach((c) => (image.data[4 * i + c] = found.reduce((sum, w, n) => sum + w * colours[n][c], 0)));
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    return largest;
  };
})(globalThis);
