// A canvas on which the reader places digits, draws, and takes away, with the mouse, a finger or the keys.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make } = LIVE;
  const { SIDE, WIDE } = LIVE.CANVAS;
  const MOST = 6, // digits on a canvas; in training there were two or three
    PEN = 2, // pixels wide
    KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  // `state`: placed (digit, row, column, …), ink (pixels), tool ("digit", "pen", "away"), digit (the one that is placed next).
  // `changed(what)` is told the new placed and ink. Returns { element, draw(image), place(row, column), tell (clears the fault),
  // moveIn (after another tool was chosen) }.
  LIVE.digitBoard = function ({ state, nameOf, changed }) {
    let at = [4, 16], // the frame's upper left corner
      image = null;
    const sheet = make("canvas", { class: "live-paper", "aria-hidden": "true" }),
      where = make("p", { class: "live-aloud", role: "status" }),
      fault = make("p", { class: "live-fault", role: "alert" });
    const paper = make(
      "div",
      {
        role: "application",
        tabindex: 0,
        "aria-label": "Your canvas: arrow keys move the frame, Enter uses the tool there, Delete takes away what is there",
        onkeydown: typed,
        onfocus: () => draw(),
        onblur: () => draw(),
        onpointerdown: pressed,
        onpointermove: (event) => event.buttons && state.tool === "pen" && use(positionOf(event)),
      },
      sheet,
      where,
    );

    const size = () => (state.tool === "pen" ? PEN : WIDE);
    const within = (v) => Math.max(0, Math.min(SIDE - size(), v));
    function positionOf(event) {
      const box = sheet.getBoundingClientRect(),
        half = (size() * box.width) / SIDE / 2;
      return [event.clientY - box.top - half, event.clientX - box.left - half].map((v) => within(Math.round((v / box.width) * SIDE)));
    }
    function pressed(event) {
      paper.setPointerCapture(event.pointerId);
      use(positionOf(event));
    }
    function typed(event) {
      const step = size() / 2;
      if (event.key in KEYS) {
        at = at.map((v, i) => within(v + (event.shiftKey ? 1 : step) * KEYS[event.key][i]));
        const [found] = below(at);
        where.textContent = "row " + at[0] + ", column " + at[1] + (found ? ", on the " + nameOf(found.digit) : "");
        draw();
      } else if (event.key === "Enter" || event.key === " ") {
        use(at);
      } else if (event.key === "Delete" || event.key === "Backspace") {
        takeAway(at);
      } else {
        return;
      }
      event.preventDefault();
    }

    // The digits under the frame's middle, the last one placed first.
    const below = ([row, column]) =>
      LIVE.digitsOf(state.placed)
        .filter((one) => [row - one.row, column - one.column].every((v) => v + size() / 2 >= 0 && v + size() / 2 <= WIDE))
        .reverse();
    function use([row, column]) {
      at = [row, column];
      fault.textContent = "";
      if (state.tool === "away") {
        takeAway(at);
      } else if (state.tool === "pen") {
        const cells = [0, 1].flatMap((y) => [0, 1].map((x) => (row + y) * SIDE + column + x));
        changed({ ink: [...new Set([...state.ink, ...cells])] });
      } else if (state.placed.length === 3 * MOST) {
        fault.textContent = "There are six digits on the canvas, which is the most. Please take one away first.";
      } else {
        changed({ placed: [...state.placed, state.digit, row, column] });
      }
    }
    function takeAway([row, column]) {
      const [found] = below([row, column]),
        near = (cell) => [Math.floor(cell / SIDE) - row, (cell % SIDE) - column].every((v) => v >= 0 && v < size());
      const placed = found ? state.placed.toSpliced(3 * found.n, 3) : state.placed,
        ink = found ? state.ink : state.ink.filter((cell) => !near(cell));
      fault.textContent = found || ink.length < state.ink.length ? "" : "There is nothing to take away at this position.";
      changed({ placed, ink });
    }

    function draw(now = image) {
      image = now;
      const pen = LIVE.paintCanvas(sheet, image);
      if (paper.matches(":focus")) {
        pen.strokeStyle = "rgb(200,90,0)";
        pen.setLineDash([4, 3]);
        pen.strokeRect(at[1] * 4 + 0.5, at[0] * 4 + 0.5, size() * 4 - 1, size() * 4 - 1);
      }
    }
    const place = (row, column) => state.tool === "digit" && use([row, column].map(within));
    return {
      element: make("div", {}, paper, fault),
      draw,
      place,
      tell: () => (fault.textContent = ""),
      moveIn: () => (at = at.map(within)),
    };
  };
})(globalThis);
