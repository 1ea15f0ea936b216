// The pointer network on points that the reader sets: its hull or round trip beside the right one, and how certain it was at
// each choice.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, slider, buttons, words, counted, percent, pairs } = LIVE;
  const LEAST = 3,
    MOST = 30,
    SETS = 20; // that are tried at once
  const SEEN = { hull: [5, 10, "five to ten points"], tour: [10, 10, "ten points"] }; // in training
  const CITIES = [0.2, 0.8, 0.5, 0.3, 0.4, 0.6, 0.1, 0.3, 0.9, 0.6]; // the five of chapter 14, which counts from 0 as the board does

  const anywhere = (count) => Array.from({ length: count }, () => [Math.random(), Math.random()].map(LIVE.thousandths));

  // The network's answer of a kind: positions and probabilities.
  LIVE.pointed = (models, kind, points) => LIVE.pointAt(models[kind], points, kind === "tour" ? 0 : undefined);

  LIVE.figure("pointers", {
    title: "A pointer network on your points",
    todo: "Go through the network's choices with the slider: where does it doubt (large circles on several points)? Leave the slider at a choice and move a point: when does another one become the most probable? Then press “10 random points” until the round trip is not the shortest, as in about three of ten sets: how much longer is it? At the end try twenty random sets of ten points, and of more points than it was trained on.",
    learned:
      "The network names positions of its own input, so it takes any number of points. It doubts where two points are nearly as good, and it cannot take a choice back. With ten points about seven of ten trips are the shortest, and the others are little longer; nearest first is far worse. With twenty points, which training never showed, hardly any trip is as short as that of 2-opt, many cross themselves, and about four of ten hulls are wrong.",
    about:
      "Two pointer networks with a Transformer as encoder and an LSTM as decoder, larger than the file of Chapter 14, with 596,480 numbers each (rounded to eight bits here), one trained on hulls of five to ten points, the other on shortest round trips of ten points. The shortest trip is exact (Held and Karp), up to thirteen points.",
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
      let trial = 0,
        found = null,
        judged = null;

      // Points that are moved, added or removed keep the choice that the slider shows; other points begin with all choices.
      const set = (next, step = state.step) => {
        kept({ points: next.flat(), step, tally: [] });
        trial++; // ends a count that is under way: it belongs to the points before
        count();
        solve();
      };
      const board = LIVE.pointBoard({ points, set, most: MOST, isStart: (n) => n === 0 && state.kind === "tour" });

      // The other answer, edge by edge; edges that the right one lacks are dashed.
      function compared(all) {
        const { best, nearest } = judged,
          shown = state.kind === "hull" ? best : { nearest, best }[state.compare];
        const edges = (row) => row.map((i, n) => [i, row[(n + 1) % row.length]]),
          same = new Set(edges(best).flatMap(([a, b]) => [a + "," + b, b + "," + a]));
        return edges(shown || []).map(([a, b]) => {
          const [[x1, y1], [x2, y2]] = [board.xy(all[a]), board.xy(all[b])];
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
        board.draw(
          chances,
          ...(last ? compared(all) : []),
          make(last ? "polygon" : "polyline", { points: row.map((i) => board.xy(all[i]).join(",")).join(" "), class: state.kind }),
        );
        if (!last) {
          const order = Array.from(chances, (chance, i) => [chance, i]).sort((a, b) => b[0] - a[0]),
            name = ([chance, i]) => percent(chance) + (i === all.length ? " for ending here" : " for point " + i);
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
            (state.kind === "hull" ? LIVE.hullInWords(judged) : LIVE.tourInWords(all, judged)) +
            (where && sure < 0.9 ? " The network was least certain at choice " + where + ", with " + percent(sure) + "." : "") +
            (all.length < fewest || all.length > most ? " Training showed it " + shown + "." : ""),
        );
      }

      function solve() {
        const all = points();
        if (all.length < LEAST) {
          found = { tokens: [], steps: [] };
          board.draw([]);
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
          make("div", {}, board.element, legend),
          make(
            "div",
            {},
            buttons(
              ["10 random points", () => set(anywhere(10), -1)],
              ["20 random points", () => set(anywhere(20), -1)],
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
