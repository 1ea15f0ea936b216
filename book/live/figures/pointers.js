// The pointer network on points that the reader sets: its hull or round trip beside the right one, and how certain it was at
// each choice.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, slider, buttons, words, counted, percent, pairs } = LIVE;
  const SIZE = 400,
    PAD = 18,
    LEAST = 3,
    MOST = 30,
    SETS = 20, // that are tried at once
    BY = { ArrowLeft: [-0.02, 0], ArrowRight: [0.02, 0], ArrowUp: [0, 0.02], ArrowDown: [0, -0.02] };
  const SEEN = { hull: [5, 10, "five to ten points"], tour: [10, 10, "ten points"] }; // in training
  // The ten cities of chapter 14's first figure.
  const CITIES = [
    0.924, 0.348, 0.302, 0.468, 0.732, 0.017, 0.223, 0.335, 0.282, 0.487, 0.865, 0.609, 0.048, 0.962, 0.903, 0.657, 0.745, 0.687, 0.91,
    0.019,
  ];

  const rounded = (v) => Math.round(1000 * Math.max(0, Math.min(1, v))) / 1000;
  const anywhere = (count) => Array.from({ length: count }, () => [rounded(Math.random()), rounded(Math.random())]);
  const longer = (length, least) => percent(length / least - 1) + " longer";

  // The network's answer of a kind: positions and probabilities.
  LIVE.pointed = (models, kind, points) => LIVE.pointAt(models[kind], points, kind === "tour" ? 0 : undefined);

  function hullInWords({ right, missing, extra }) {
    const some = (count, ...what) => (count ? [counted(count, ...what)] : []);
    const wrong = [
      ...some(missing, "corner is missing", "corners are missing"),
      ...some(extra, "point is no corner", "points are no corners"),
    ];
    return right ? "the network's corners are those of the hull." : "the hull is wrong: " + (wrong.join(", and ") || "its order") + ".";
  }
  function tourInWords(points, { length, right, crossings, nearest, best, exact }) {
    const of = (tour) => LIVE.tourLength(points, tour),
      least = of(best);
    const compared = exact
      ? right
        ? "This is the shortest. "
        : "The shortest is " + least.toFixed(2) + ": the network's is " + longer(length, least) + ". "
      : "The shortest isn't computed for more than " +
        LIVE.MOST_CITIES +
        " points; 2-opt, which improves nearest first by exchanging edges, finds " +
        least.toFixed(2) +
        (length <= least ? ", which isn't shorter. " : ": the network's is " + longer(length, least) + ". ");
    return (
      "the network's round trip is " +
      length.toFixed(2) +
      " long. " +
      compared +
      "Nearest first is " +
      of(nearest).toFixed(2) +
      (of(nearest) <= least + 1e-6 ? "." : " (" + longer(of(nearest), least) + ").") +
      (crossings ? " The network's trip crosses itself " + (crossings === 1 ? "once." : crossings + " times.") : "")
    );
  }

  LIVE.figure("pointers", {
    title: "A pointer network on your points",
    todo: "Go through the network's choices with the slider: where does it doubt (large circles on several points)? Move or add points until its round trip is no longer the shortest. Then try twenty random sets of ten points, and of more points than it was trained on.",
    learned:
      "The network names positions of its own input, so it takes any number of points. It doubts where two points are nearly as good, and it cannot take a choice back. With ten points about seven of ten trips are the shortest, and the others are little longer; nearest first is far worse. With twenty points, which training never showed, hardly any trip is as short as that of 2-opt, many cross themselves, and about four of ten hulls are wrong.",
    about:
      "Two pointer networks of Chapter 14 with a Transformer as encoder, 596,480 numbers each (rounded to eight bits here), one trained on hulls of five to ten points, the other on shortest round trips of ten points. The shortest trip is exact (Held and Karp), up to thirteen points.",
    packs: ["hull", "tour"],
    // tally: of sets tried at random, how many points each had, how many answers were right, how many there were.
    defaults: { kind: "tour", points: CITIES, step: -1, compare: "nearest", tally: [] },
    draw(room, state, kept, hullPack, tourPack) {
      const models = { hull: LIVE.PointerNetwork(hullPack), tour: LIVE.PointerNetwork(tourPack) },
        said = words(),
        walk = make("div", {}),
        beside = make("div", {}),
        legend = make("p", { class: "live-before" }),
        tally = make("p", { class: "live-before", role: "status" });
      const points = () => pairs(state.points);
      const xy = ([x, y]) => [x * SIZE, (1 - y) * SIZE];
      let dragged = null,
        trial = 0,
        active = 0, // the point that is reached with the Tab key
        found = null,
        judged = null;

      const at = (event) => {
        const box = board.getBoundingClientRect(),
          scale = (SIZE + 2 * PAD) / box.width;
        return [rounded(((event.clientX - box.left) * scale - PAD) / SIZE), rounded(1 - ((event.clientY - box.top) * scale - PAD) / SIZE)];
      };
      const set = (next) => {
        kept({ points: next.flat(), step: -1, tally: [] });
        trial++; // ends a count that is under way: it belongs to the points before
        count();
        solve();
      };
      const move = (n, point) => set(points().toSpliced(n, 1, point));
      const down = (event) => {
        const near = event.target.closest("[data-point]"),
          all = points();
        if (!near && all.length >= MOST) {
          return;
        }
        dragged = active = near ? Number(near.dataset.point) : all.length;
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
      // Draws, and gives the focus back to the point that had it.
      function draw(...children) {
        const held = board.contains(document.activeElement);
        active = Math.max(0, Math.min(active, points().length - 1));
        board.replaceChildren(...children);
        const mark = board.querySelector('[data-point="' + active + '"]');
        mark?.setAttribute("tabindex", 0);
        if (held) {
          mark?.focus({ preventScroll: true });
        }
      }

      function key(event, n) {
        const other = { PageDown: n + 1, PageUp: n - 1, Home: 0, End: points().length - 1 }[event.key];
        if (other !== undefined) {
          active = (other + points().length) % points().length;
          board.querySelectorAll("[data-point]").forEach((mark, i) => mark.setAttribute("tabindex", i === active ? 0 : -1));
          board.querySelector('[data-point="' + active + '"]').focus();
        } else if (event.key === "Delete" || event.key === "Backspace") {
          set(points().toSpliced(n, 1));
        } else if (event.key in BY) {
          move(
            n,
            points()[n].map((v, i) => rounded(v + BY[event.key][i])),
          );
        } else {
          return;
        }
        event.preventDefault();
      }
      function dot(point, n, chance) {
        const [x, y] = xy(point),
          first = n === 0 && state.kind === "tour";
        return make(
          "g",
          {
            "data-point": n,
            tabindex: -1,
            role: "button",
            "aria-label":
              "point " +
              (n + 1) +
              (first ? ", the start" : "") +
              ": arrow keys move it, Delete removes it, Page Up and Page Down choose another",
            onkeydown: (event) => key(event, n),
            onfocus: () => (active = n),
          },
          make("circle", { cx: x, cy: y, r: 4 + 22 * Math.sqrt(chance), class: "chance" }),
          make("circle", { cx: x, cy: y, r: 22, class: "hit" }),
          first ? make("rect", { x: x - 8, y: y - 8, width: 16, height: 16 }) : make("circle", { cx: x, cy: y, r: 6 }),
        );
      }

      // The other answer, edge by edge; edges that the right one lacks are dashed.
      function compared(all) {
        const { best, nearest } = judged,
          shown = state.kind === "hull" ? best : { nearest, best }[state.compare];
        const edges = (row) => row.map((i, n) => [i, row[(n + 1) % row.length]]),
          same = new Set(edges(best).flatMap(([a, b]) => [a + "," + b, b + "," + a]));
        return edges(shown || []).map(([a, b]) => {
          const [[x1, y1], [x2, y2]] = [xy(all[a]), xy(all[b])];
          return make("line", { x1, y1, x2, y2, class: same.has(a + "," + b) ? "other" : "other is-worse" });
        });
      }

      function paint() {
        const all = points(),
          last = state.step < 0 || state.step >= found.steps.length,
          given = state.kind === "tour" ? 1 : 0;
        const row = last ? found.tokens : found.tokens.slice(0, state.step + given),
          chances = last ? [] : found.steps[state.step];
        legend.textContent = !last
          ? "Dashed: chosen so far. Large circles: how probable each next choice is."
          : state.kind === "tour" && state.compare === "none"
            ? "Thin line: the network’s answer."
            : "Thin line: the network’s answer. Broad line: what else is drawn, dashed where the best answer that is known lacks the edge.";
        draw(
          ...(last ? compared(all) : []),
          make(last ? "polygon" : "polyline", { points: row.map((i) => xy(all[i]).join(",")).join(" "), class: state.kind }),
          ...all.map((point, n) => dot(point, n, chances[n] || 0)),
        );
        if (!last) {
          const order = Array.from(chances, (chance, i) => [chance, i]).sort((a, b) => b[0] - a[0]),
            name = ([chance, i]) => percent(chance) + (i === all.length ? " for ending here" : " for point " + (i + 1));
          said.say("Choice " + (state.step + 1) + " of " + found.steps.length + ": " + order.slice(0, 2).map(name).join(", ") + ".");
          return;
        }
        const [sure, where] = found.steps.reduce(
            (least, step, i) => (Math.max(...step) < least[0] ? [Math.max(...step), i + 1] : least),
            [1, 0],
          ),
          [fewest, most, shown] = SEEN[state.kind];
        said.say(
          all.length +
            " points: " +
            (state.kind === "hull" ? hullInWords(judged) : tourInWords(all, judged)) +
            (where && sure < 0.9 ? " The network was least certain at choice " + where + ", with " + percent(sure) + "." : "") +
            (all.length < fewest || all.length > most ? " Training showed it " + shown + "." : ""),
        );
      }

      function solve() {
        const all = points();
        if (all.length < LEAST) {
          found = { tokens: [], steps: [] };
          draw(...all.map((point, n) => dot(point, n, 0)));
          walk.replaceChildren();
          said.say("Please set at least " + LEAST + " points.");
          return;
        }
        found = LIVE.pointed(models, state.kind, all);
        judged = LIVE.judged(state.kind, all, found.tokens);
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

      function count() {
        const [size, right, sets] = state.tally,
          what =
            state.kind === "hull"
              ? ["hull is right", "hulls are right"]
              : size > LIVE.MOST_CITIES
                ? ["trip is as short as 2-opt's", "trips are as short as 2-opt's"]
                : ["trip is the shortest", "trips are the shortest"];
        tally.textContent = sets ? "Of " + counted(sets, "random set") + " of " + size + " points, " + counted(right, ...what) + "." : "";
      }
      // Random sets of as many points as there are now, one at a time, so that the page stays awake.
      async function trySets() {
        const size = points().length,
          kind = state.kind;
        if (size < LEAST) {
          return;
        }
        const mine = ++trial;
        let right = 0;
        for (let n = 1; n <= SETS && mine === trial; n++) {
          const all = anywhere(size);
          right += LIVE.judged(kind, all, LIVE.pointed(models, kind, all).tokens).right;
          kept({ tally: [size, right, n] });
          count();
          await new Promise((resolve) => setTimeout(resolve));
        }
      }

      const options = (kind) =>
        beside.replaceChildren(
          ...(kind === "hull"
            ? []
            : [
                choice(
                  "Also drawn",
                  [
                    ["nearest", "nearest first"],
                    ["best", "the shortest (2-opt)"],
                    ["none", "nothing"],
                  ],
                  state.compare,
                  (compare) => {
                    kept({ compare });
                    solve();
                  },
                ),
              ]),
        );
      const more = () => points().length < MOST && set([...points(), ...anywhere(1)]);
      room.append(
        choice(
          "Answer",
          [
            ["tour", "round trip"],
            ["hull", "convex hull"],
          ],
          state.kind,
          (kind) => {
            kept({ kind, step: -1, tally: [] });
            trial++;
            count();
            options(kind);
            solve();
          },
        ),
        beside,
        make(
          "div",
          { class: "live-view" },
          make("div", {}, board, legend),
          make(
            "div",
            {},
            buttons(
              ["10 random points", () => set(anywhere(10))],
              ["20 random points", () => set(anywhere(20))],
              ["one more", more],
              ["one fewer", () => set(points().slice(0, -1))],
              ["try " + SETS + " random sets", trySets],
            ),
            tally,
            walk,
            said.element,
          ),
        ),
      );
      options(state.kind);
      count();
      solve();
    },
  });
})(globalThis);
