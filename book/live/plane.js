// A plane with points that can be dragged, and moved with the arrow keys.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make } = LIVE;
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const UNIT = 100; // of the drawing, per unit of the plane

  // `points`: { name, at: [x, y], kind ("key", "query", "value", "context"), hue, fixed }. `moved(number, at)` after each move.
  // Returns { element, ground (a canvas behind), under (a group below the points), show(number, { at, radius, words }) }.
  LIVE.plane = function ({ label, range, points, moved }) {
    const limited = (v) => Math.max(-range, Math.min(range, v)),
      size = 2 * range * UNIT;
    const ground = make("canvas", { width: 48, height: 48, "aria-hidden": "true" }),
      under = make("g");
    const marks = points.map((point, number) => {
      const shape = point.kind === "value" ? make("rect", { width: 22, height: 22, x: -11, y: -11, rx: 3 }) : make("circle", { r: 11 });
      const hit = point.fixed ? null : make("circle", { r: 24, class: "hit" }); // as large as a finger
      const step = (event) => {
        if (!(event.key in KEYS)) {
          return;
        }
        event.preventDefault();
        const by = event.shiftKey ? 0.2 : 0.05;
        moved(
          number,
          point.at.map((v, i) => limited(v + by * KEYS[event.key][i])),
        );
      };
      const reach = point.fixed
        ? { "aria-hidden": "true" }
        : { tabindex: 0, role: "slider", "aria-label": point.name + ", move with the arrow keys", "aria-valuenow": 0, onkeydown: step };
      const name = point.fixed
        ? null
        : make("text", { y: point.kind === "query" ? 32 : -19, "text-anchor": "middle", "aria-hidden": "true" }, point.name);
      return {
        shape,
        all: make(
          "g",
          { class: "live-point is-" + point.kind, style: "--hue:" + point.hue, "data-number": number, ...reach },
          hit,
          shape,
          name,
        ),
      };
    });

    let dragged = null;
    const toPlane = (event) => {
      const box = drawing.getBoundingClientRect(),
        scale = (2 * range) / box.width;
      return [limited((event.clientX - box.left) * scale - range), limited(range - (event.clientY - box.top) * scale)];
    };
    const down = (event) => {
      const mark = event.target.closest("[data-number]");
      if (!mark || points[mark.dataset.number].fixed) {
        return;
      }
      dragged = Number(mark.dataset.number);
      mark.focus({ preventScroll: true });
      drawing.setPointerCapture(event.pointerId);
      event.preventDefault();
    };
    const drawing = make(
      "svg",
      {
        viewBox: [-size / 2, -size / 2, size, size].join(" "),
        role: "group",
        "aria-label": label,
        onpointerdown: down,
        onpointermove: (event) => dragged !== null && moved(dragged, toPlane(event)),
        onpointerup: () => (dragged = null),
        onpointercancel: () => (dragged = null),
      },
      make("line", { x1: -size / 2, x2: size / 2, class: "axis" }),
      make("line", { y1: -size / 2, y2: size / 2, class: "axis" }),
      under,
      marks.map((mark) => mark.all),
    );

    function show(number, { at, radius, words }) {
      const { all, shape } = marks[number];
      points[number].at = at;
      all.setAttribute("transform", "translate(" + at[0] * UNIT + " " + -at[1] * UNIT + ")");
      if (radius && shape.tagName === "circle") {
        shape.setAttribute("r", radius);
      }
      if (words) {
        all.setAttribute("aria-valuetext", words);
      }
    }
    return { element: make("div", { class: "live-ground" }, ground, drawing), ground, under, show, unit: UNIT };
  };

  // x and y of each point, out of a list of numbers.
  LIVE.pairs = (numbers) => Array.from({ length: numbers.length / 2 }, (_, n) => numbers.slice(2 * n, 2 * n + 2));

  // Colours a plane's ground: `shares(at)` gives one share per hue.
  LIVE.colour = function ({ ground }, range, hues, shares) {
    const pen = ground.getContext("2d"),
      { width } = ground,
      image = pen.createImageData(width, width);
    const channel = (hue, n) => 255 * (0.55 - 0.3 * Math.max(-1, Math.min(((n + hue / 30) % 12) - 3, 9 - ((n + hue / 30) % 12), 1)));
    const colours = hues.map((hue) => [0, 8, 4].map((n) => channel(hue, n)));
    for (let i = 0; i < width * width; i++) {
      const at = [(((i % width) + 0.5) / width) * 2 * range - range, range - ((Math.floor(i / width) + 0.5) / width) * 2 * range];
      const found = shares(at);
      [0, 1, 2].forEach((c) => (image.data[4 * i + c] = found.reduce((sum, w, n) => sum + w * colours[n][c], 0)));
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
  };
})(globalThis);
