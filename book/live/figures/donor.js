// Two distant digits of chapter 16's trained generator: one half of the canvas may attend to another canvas, the donor.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent } = LIVE;
  const COLUMNS = 16,
    PIXELS = 6, // of the screen per pixel of the canvas
    END = [2 * COLUMNS + 2, 2 * COLUMNS + 13]; // the queries: inside the left digit and inside the right one

  // A canvas in ink, with the weights of one query over it if there is one.
  function paint(element, image, query, weights) {
    Object.assign(element, { width: 32 * PIXELS, height: 8 * PIXELS });
    const pen = element.getContext("2d");
    image.forEach((v, i) => {
      pen.fillStyle = "rgb(" + [0, 1, 2].map(() => Math.round(255 - 225 * v)).join() + ")";
      pen.fillRect((i % 32) * PIXELS, Math.floor(i / 32) * PIXELS, PIXELS, PIXELS);
    });
    if (weights) {
      const most = Math.max(...weights),
        side = 2 * PIXELS,
        corner = (i) => [(i % COLUMNS) * side, Math.floor(i / COLUMNS) * side];
      weights.forEach((w, i) => {
        pen.fillStyle = "rgba(20,90,190," + ((0.75 * w) / most).toFixed(3) + ")";
        pen.fillRect(...corner(i), side, side);
      });
      pen.lineWidth = 2;
      pen.strokeRect(...corner(query).map((v) => v + 1), side - 2, side - 2);
    }
  }

  // What half of the canvas attends to the donor, as `reads` of the generator takes it.
  LIVE.readsOfDonor = (half, x, donor) => (j) => {
    const right = j % COLUMNS >= COLUMNS / 2;
    return half === "right" && right
      ? { left: donor, right: x }
      : half === "left" && !right
        ? { left: x, right: donor }
        : { left: x, right: x };
  };

  LIVE.figure("donor", {
    title: "One digit attends to another canvas",
    todo: "The canvas and its donor have different digits, and the right half attends to the donor’s left half: which digit has changed? Then let the left half attend to the donor’s right half. Which of the two digits decides for the other? Look for a canvas and a donor that behave differently. The blue cells show what the framed position attends to.",
    learned:
      "When the right half attends to the donor, the right digit mostly becomes the donor’s, and the left digit stays. When the left half attends to the donor, it mostly stays what it was. So in this generator the left digit decides. Give each of the 40 canvases the next one as its donor: 16 of these pairs have different digits. The right digit takes the donor’s in 16 of 16, and the left one in 0 of 16. The weights of both queries lie mostly at the left digit, which fits, but only the donor shows what the digits depend on.",
    about:
      "The trained generator with attention of this page (seed 0), 21,000 numbers, rounded to eight bits. Its noise is drawn here from the number of the canvas. A digit is named by the ink in its middle.",
    packs: ["donor"],
    defaults: { canvas: 3, donor: 4, half: "right", query: 1 },
    draw(room, state, kept, pack) {
      const generator = LIVE.Generator(pack),
        said = words(),
        maps = new Map();
      const mapOf = (seed) => {
        if (!maps.has(seed)) {
          maps.set(seed, generator.map(seed));
        }
        return maps.get(seed);
      };
      const name = (image, end) => (LIVE.isOne(image, end) ? "one" : "zero"),
        both = (image) => "a " + name(image, 0) + " and a " + name(image, 1);
      const panel = (title) => {
        const element = make("canvas", { class: "live-paper", role: "img", "aria-label": title });
        return { element, box: make("div", {}, make("p", { class: "live-head" }, title), element) };
      };
      const own = panel("The canvas as it was"),
        other = panel("The donor"),
        result = panel("What is drawn now");

      function show() {
        const x = mapOf(state.canvas),
          donor = mapOf(state.donor),
          before = generator.draw(x),
          given = generator.draw(donor),
          after = generator.draw(x, LIVE.readsOfDonor(state.half, x, donor)),
          query = END[state.query],
          weights = after.weights[query];
        paint(own.element, before.image);
        paint(other.element, given.image);
        paint(result.element, after.image, query, weights);
        const left = weights.reduce((sum, w, i) => sum + (i % COLUMNS < COLUMNS / 2 ? w : 0), 0);
        const changed = [0, 1].filter((end) => LIVE.isOne(before.image, end) !== LIVE.isOne(after.image, end));
        said.say(
          "The canvas has " +
            both(before.image) +
            ", the donor " +
            both(given.image) +
            ". " +
            (state.half === "none"
              ? "Both halves attend to the canvas itself."
              : "The " + state.half + " half attends to the donor, and now there is " + both(after.image) + ".") +
            (state.half === "none"
              ? ""
              : changed.length
                ? " The " + changed.map((end) => ["left", "right"][end]).join(" and the ") + " digit has changed."
                : " No digit has changed its class.") +
            " The framed position gives " +
            percent(left) +
            " of its weight to the left half.",
        );
      }
      const changes = (what) => {
        kept(what);
        show();
      };
      const number = (title, field) =>
        slider(title, { from: 1, to: 40, step: 1, value: state[field] }, (value) => changes({ [field]: value }));
      room.append(
        number("Canvas number", "canvas"),
        number("Donor number", "donor"),
        choice(
          "Which half attends to the donor",
          [
            ["none", "neither"],
            ["right", "the right half, to its left half"],
            ["left", "the left half, to its right half"],
          ],
          state.half,
          (half) => changes({ half }),
        ),
        choice(
          "Show the weights of a position",
          [
            [0, "in the left digit"],
            [1, "in the right digit"],
          ],
          state.query,
          (query) => changes({ query }),
        ),
        make("div", { class: "live-planes" }, own.box, other.box, result.box),
        said.element,
      );
      show();
    },
  });
})(globalThis);
