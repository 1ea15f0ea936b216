// The pointer network on points that the reader sets: its hull or round trip, and how certain it was at each choice.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, slider, buttons, words, percent, pairs } = LIVE;
  const SIZE = 400,
    PAD = 18,
    LEAST = 3,
    MOST = 30,
    SEEN = [5, 10]; // points that training showed
  const START = [0.12, 0.2, 0.5, 0.08, 0.88, 0.3, 0.8, 0.85, 0.45, 0.55, 0.2, 0.8, 0.6, 0.4];

  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  // The corners of the convex hull, by Andrew's two chains.
  LIVE.hull = function (points) {
    const order = points.map((_, i) => i).sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1]);
    const chain = (row) =>
      row.reduce((kept, i) => {
        while (kept.length > 1 && turn(points[kept[kept.length - 2]], points[kept[kept.length - 1]], points[i]) <= 0) {
          kept.pop();
        }
        return kept.concat([i]);
      }, []);
    return chain(order).slice(0, -1).concat(chain(order.slice().reverse()).slice(0, -1));
  };
  const length = (points, row) =>
    row.reduce((sum, i, at) => sum + Math.hypot(...[0, 1].map((x) => points[i][x] - points[row[(at + 1) % row.length]][x])), 0);

  LIVE.figure("pointers", {
    title: "A pointer network on your points",
    todo: "Press into the square to set points, or drag them. Go through its choices with the slider: where does it doubt (large circles on several points)? Then set more than ten points, more than it has ever seen.",
    learned:
      "The network names positions of its own input, so it works for any number of points. It is certain where one point lies clearly outside, and doubts where two points lie almost on the edge. With more points than in training the hull is right less and less often (in about six of ten cases with twenty points), and the round trip becomes longer than needed, and crosses itself.",
    about:
      "The two pointer networks of Chapter 14, with a Transformer as encoder: 0.6 million numbers each (eight bits here), trained on five to ten points.",
    packs: ["hull", "tour"],
    defaults: { kind: "tour", points: START, step: -1 },
    draw(room, state, kept, hullPack, tourPack) {
      const models = { hull: LIVE.PointerNetwork(hullPack), tour: LIVE.PointerNetwork(tourPack) },
        said = words(),
        walk = make("div", {});
      const points = () => pairs(state.points);
      const xy = ([x, y]) => [x * SIZE, (1 - y) * SIZE],
        limited = (v) => Math.round(1000 * Math.max(0, Math.min(1, v))) / 1000;
      let dragged = null,
        found = null;

      const at = (event) => {
        const box = board.getBoundingClientRect(),
          scale = (SIZE + 2 * PAD) / box.width;
        return [limited(((event.clientX - box.left) * scale - PAD) / SIZE), limited(1 - ((event.clientY - box.top) * scale - PAD) / SIZE)];
      };
      const set = (next) => {
        kept({ points: next.flat(), step: -1 });
        solve();
      };
      const move = (n, point) => set(points().toSpliced(n, 1, point));
      const down = (event) => {
        const near = event.target.closest("[data-point]"),
          all = points();
        if (!near && all.length >= MOST) {
          return;
        }
        dragged = near ? Number(near.dataset.point) : all.length;
        board.setPointerCapture(event.pointerId);
        if (!near) {
          set([...all, at(event)]);
        }
      };
      const board = make("svg", {
        viewBox: [-PAD, -PAD, SIZE + 2 * PAD, SIZE + 2 * PAD].join(" "),
        class: "live-board",
        role: "group",
        "aria-label": "Your points",
        onpointerdown: down,
        onpointermove: (event) => dragged !== null && move(dragged, at(event)),
        onpointerup: () => (dragged = null),
        onpointercancel: () => (dragged = null),
      });

      function dot(point, n, chance) {
        const [x, y] = xy(point),
          by = { ArrowLeft: [-0.02, 0], ArrowRight: [0.02, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] };
        const key = (event) => {
          if (event.key === "Delete" || event.key === "Backspace") {
            set(points().toSpliced(n, 1));
          }
          if (!(event.key in by)) {
            return;
          }
          event.preventDefault();
          move(
            n,
            points()[n].map((v, i) => limited(v + by[event.key][i])),
          );
          board.querySelector('[data-point="' + n + '"]').focus();
        };
        return make(
          "g",
          {
            "data-point": n,
            tabindex: 0,
            role: "button",
            "aria-label": "point " + (n + 1) + ": arrow keys move it, Delete removes it",
            onkeydown: key,
          },
          make("circle", { cx: x, cy: y, r: 4 + 22 * Math.sqrt(chance), class: "chance" }),
          make("circle", { cx: x, cy: y, r: 22, class: "hit" }),
          make("circle", { cx: x, cy: y, r: 6, class: n === 0 && state.kind === "tour" ? "is-first" : null }),
        );
      }

      function paint() {
        const all = points(),
          last = state.step < 0 || state.step >= found.steps.length,
          given = state.kind === "tour" ? 1 : 0;
        const row = last ? found.tokens : found.tokens.slice(0, state.step + given),
          chances = last ? [] : found.steps[state.step];
        board.replaceChildren(
          make(last ? "polygon" : "polyline", { points: row.map((i) => xy(all[i]).join(",")).join(" ") }),
          ...all.map((point, n) => dot(point, n, chances[n] || 0)),
        );
        if (!last) {
          const sure = Math.max(...chances),
            end = chances[all.length] === sure;
          said.say(
            "Choice " +
              (state.step + 1) +
              " of " +
              found.steps.length +
              ": " +
              percent(sure) +
              (end ? " for ending here." : " for its first choice."),
          );
          return;
        }
        const doubt = found.steps.reduce((least, step, i) => (Math.max(...step) < least[0] ? [Math.max(...step), i + 1] : least), [1, 0]);
        const right =
          LIVE.hull(all)
            .sort((a, b) => a - b)
            .join() ===
          found.tokens
            .slice()
            .sort((a, b) => a - b)
            .join();
        said.say(
          all.length +
            " points: " +
            (state.kind === "hull"
              ? "the network's corners are " + (right ? "right. " : "not those of the hull. ")
              : "the round trip is " + length(all, found.tokens).toFixed(2) + " long. ") +
            (doubt[1] && doubt[0] < 0.9 ? "It was least certain at choice " + doubt[1] + ", with " + percent(doubt[0]) + ". " : "") +
            (all.length < SEEN[0] || all.length > SEEN[1] ? "Training showed it " + SEEN[0] + " to " + SEEN[1] + " points." : ""),
        );
      }

      function solve() {
        const all = points();
        if (all.length < LEAST) {
          found = { tokens: [], steps: [] };
          board.replaceChildren(...all.map((point, n) => dot(point, n, 0)));
          walk.replaceChildren();
          said.say("Please set at least " + LEAST + " points.");
          return;
        }
        found = LIVE.pointAt(models[state.kind], all, state.kind === "tour" ? 0 : undefined);
        const steps = found.steps.length,
          shown = state.step < 0 ? steps : Math.min(state.step, steps);
        walk.replaceChildren(
          slider(
            "Choice",
            { from: 0, to: steps, step: 1, value: shown, shown: (n) => (n === steps ? "all" : n + 1 + " of " + steps) },
            (n) => {
              kept({ step: n === steps ? -1 : n });
              paint();
            },
          ),
        );
        paint();
      }

      const fresh = (count) => () => set(Array.from({ length: count }, () => [limited(Math.random()), limited(Math.random())]));
      room.append(
        choice(
          "Answer",
          [
            ["hull", "convex hull"],
            ["tour", "round trip"],
          ],
          state.kind,
          (kind) => {
            kept({ kind, step: -1 });
            solve();
          },
        ),
        make(
          "div",
          { class: "live-view" },
          board,
          make(
            "div",
            {},
            buttons(
              ["7 new points", fresh(7)],
              ["10", fresh(10)],
              ["20", fresh(20)],
              ["one more", () => points().length < MOST && set([...points(), [limited(Math.random()), limited(Math.random())]])],
              ["one fewer", () => set(points().slice(0, -1))],
            ),
            walk,
            said.element,
          ),
        ),
      );
      solve();
    },
  });
})(globalThis);
