// What the patches of a photograph attend to in three heads of DINOv2: stored weights, and one patch that the reader presses (chapter 16).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, words, percent } = LIVE;
  const SIDE = 16, // patches
    N = SIDE * SIDE,
    PIXELS = 16; // of the canvas per patch

  const apart = (a, b) => Math.max(Math.abs(Math.floor(a / SIDE) - Math.floor(b / SIDE)), Math.abs((a % SIDE) - (b % SIDE)));

  // The weights of each patch, one row per patch with the sum 1, out of the bytes of a pack.
  LIVE.patchWeights = function ({ weights }) {
    const text = atob(weights);
    return Array.from({ length: N }, (_, q) => {
      const row = Array.from({ length: N }, (_, k) => text.charCodeAt(q * N + k)),
        sum = row.reduce((a, b) => a + b, 0);
      return row.map((w) => w / sum);
    });
  };

  // How much of its weight a patch gives to the eight patches around it, or to fewer at an edge.
  LIVE.nearShare = (row, query) => row.reduce((sum, w, k) => sum + (apart(query, k) === 1 ? w : 0), 0);
  LIVE.meanNearShare = (rows) => rows.reduce((sum, row, q) => sum + LIVE.nearShare(row, q), 0) / N;

  LIVE.figure("patches", {
    title: "What a patch of a photograph attends to",
    todo: "Press a patch of the photograph, or move the frame by the arrow keys: beside it stays what this patch attends to. Begin in the lower flower, at the lower edge. Which of the three heads goes with the frame wherever you press? The others lead to the upper flower: which of them does so from the background, too?",
    learned:
      "Head 4 of layer 3 goes with the frame: on average, a patch gives 64 % of its weight to the eight patches around it, whatever they show. In head 1 of layer 3 this is 10 %: from the lower flower it leads to the edge of the upper one, and from the background to the background. In head 6 of the last layer it is 4.8 %, and patches of the background, too, attend mostly to the flowers.",
    about:
      "Stored weights of DINOv2 on this photograph, for three of its 72 heads, eight bits per weight; the model itself doesn’t run in this page. Photograph: vultilion, Flickr, CC BY 2.0, cropped.",
    button: "Show the photograph",
    packs: ["patches"],
    defaults: { patch: 250, head: 1 }, // counted from 1
    draw(room, state, kept, pack) {
      const rows = pack.seen.heads.map(LIVE.patchWeights),
        said = words(),
        picture = new Image();
      const canvas = (label) =>
        make("canvas", { class: "live-paper", width: SIDE * PIXELS, height: SIDE * PIXELS, role: "img", "aria-label": label });
      const photograph = canvas("The photograph, with the patch that attends in a frame"),
        attended = canvas("The photograph, where patches with less weight fade to white");
      photograph.style.cursor = "pointer";
      photograph.onclick = (event) => {
        const box = photograph.getBoundingClientRect(),
          of = (at, from, size) => Math.min(SIDE - 1, Math.max(0, Math.floor(((at - from) / size) * SIDE)));
        go(of(event.clientY, box.top, box.height), of(event.clientX, box.left, box.width));
      };
      const stop = make(
        "div",
        { tabindex: 0, role: "application", "aria-label": "Patches of the photograph: the arrow keys move the frame", onkeydown: walk },
        photograph,
      );

      function walk(event) {
        const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        if (step) {
          event.preventDefault();
          const [r, c] = at().map((v, i) => Math.min(SIDE - 1, Math.max(0, v + step[i])));
          go(r, c);
        }
      }
      const at = () => [Math.floor((state.patch - 1) / SIDE), (state.patch - 1) % SIDE];
      function go(r, c) {
        kept({ patch: r * SIDE + c + 1 });
        show();
      }

      function paint(element, row) {
        const pen = element.getContext("2d"),
          most = row ? Math.max(...row) : 1,
          [r, c] = at();
        pen.drawImage(picture, 0, 0, SIDE * PIXELS, SIDE * PIXELS);
        (row || []).forEach((w, k) => {
          pen.fillStyle = "rgba(255,255,255," + (1 - w / most).toFixed(3) + ")";
          pen.fillRect((k % SIDE) * PIXELS, Math.floor(k / SIDE) * PIXELS, PIXELS, PIXELS);
        });
        for (const [colour, width] of [
          ["#fff", 5],
          ["#b44a00", 2.5],
        ]) {
          Object.assign(pen, { strokeStyle: colour, lineWidth: width });
          pen.strokeRect(c * PIXELS + 1, r * PIXELS + 1, PIXELS - 2, PIXELS - 2);
        }
      }

      const shown = () => rows[state.head - 1][state.patch - 1];
      function paintBoth() {
        paint(photograph);
        paint(attended, shown());
      }

      function show() {
        const row = shown(),
          most = row.indexOf(Math.max(...row)),
          place = (k) => "row " + (Math.floor(k / SIDE) + 1) + ", column " + ((k % SIDE) + 1);
        paintBoth();
        said.say(
          "The patch in " +
            place(state.patch - 1) +
            " gives " +
            percent(LIVE.nearShare(row, state.patch - 1)) +
            " of its weight to the patches around it, and most, " +
            percent(row[most]) +
            ", to " +
            (most === state.patch - 1 ? "itself" : "the patch in " + place(most)) +
            ". On average over all patches, this head gives " +
            percent(LIVE.meanNearShare(rows[state.head - 1])) +
            " to the patches around a patch.",
        );
      }

      picture.onload = paintBoth; // it says nothing: nobody has acted
      picture.src = "data:image/jpeg;base64," + pack.seen.picture;
      room.append(
        choice(
          "Head",
          pack.seen.heads.map(({ layer, head }, i) => [i + 1, "layer " + layer + ", head " + head]),
          state.head,
          (head) => {
            kept({ head });
            show();
          },
        ),
        make(
          "div",
          { class: "live-planes" },
          make("div", {}, make("p", { class: "live-head" }, "Press a patch"), stop),
          make("div", {}, make("p", { class: "live-head" }, "It attends to"), attended),
        ),
        said.element,
      );
      show();
    },
  });
})(globalThis);
