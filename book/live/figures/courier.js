// The five cities of chapter 14: the reader moves them, exchanges two in the list or adds one, and sees every choice of the
// pointer by hand or of the trained network.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, buttons, words, percent, pairs } = LIVE;
  const LEAST = 3,
    MOST = 8,
    SEEN = 5, // cities in training
    FIVE = [
      [0.2, 0.8],
      [0.5, 0.3],
      [0.4, 0.6],
      [0.1, 0.3],
      [0.9, 0.6],
    ],
    CHANGES = [
      ["our five cities", FIVE],
      ["1: 1 and 3 exchanged", [0, 3, 2, 1, 4].map((n) => FIVE[n])],
      ["2: city 5 below", [...FIVE, [0.4, 0.1]]],
      ["3: city 5 above", [...FIVE, [0.4, 0.8]]],
    ]; // as the chapter asks

  LIVE.figure("courier", {
    title: "Where does the pointer go next?",
    todo: "Predict the trip after each change of the list above, then press 1, 2 and 3. After 2, drag city 5 slowly upwards: when does the trip change? Then let the pointer by hand choose.",
    learned:
      "After change 1, columns 1 and 3 have changed places and nothing else. With six cities the table has a sixth column, because the softmax runs over one score per city; no parameter is new. As you drag city 5 up, the probabilities change gradually, and the network’s trips become too long. The mask keeps such a trip valid, but cannot repair it. The pointer by hand only prefers what is near.",
    about:
      "The network of this page’s file, trained on five cities (400 steps, seed 0), with its weights rounded to eight bits; and the pointer by hand, whose score is minus ten times the distance to the last city. The shortest trip is exact (Held and Karp).",
    packs: ["courier"],
    defaults: { chooser: "network", points: FIVE.flat(), moved: -1 }, // moved: the city that the reader moved or added last
    draw(room, state, kept, pack) {
      const choosers = { network: LIVE.Courier(pack), hand: LIVE.courierByHand },
        said = words(),
        table = make("div", {}),
        changes = make("div", {}),
        legend = make("p", { class: "live-before" });
      const points = () => pairs(state.points);
      const set = (next) => {
        const before = points();
        const other = next.findIndex((point, n) => n >= before.length || point.join() !== before[n].join());
        kept({ points: next.flat(), moved: next.length < before.length ? -1 : other });
        solve();
      };
      const preset = (next) => {
        kept({ points: next.flat(), moved: -1 });
        solve();
      };
      const board = LIVE.pointBoard({ points, set, most: MOST, isStart: (n) => n === 0 });
      const ticks = [0.2, 0.4, 0.6, 0.8].flatMap((v) => {
        const [x, y] = board.xy([v, v]),
          [left, bottom] = board.xy([0, 0]),
          line = { style: "stroke: var(--pst-color-border)" },
          text = { style: "font-size: 14px; fill: var(--pst-color-text-muted)", "aria-hidden": "true" };
        return [
          make("line", { x1: x, x2: x, y1: 0, y2: bottom, ...line }),
          make("line", { x1: 0, x2: bottom, y1: y, y2: y, ...line }),
          make("text", { x: x - 10, y: bottom + 14, ...text }, v),
          make("text", { x: left - 14, y: y + 5, ...text }, v),
        ];
      });
      const grid = () => make("g", {}, ticks);
      const stops = (all, trip) => trip.map((i) => board.xy(all[i]).join(",")).join(" ");

      function explain() {
        const all = points(),
          at = all[state.moved];
        legend.textContent =
          "Thin line: the trip. Broad line: the shortest trip. Drag a city to move it; a press on free ground adds one." +
          (at ? " City " + state.moved + " is at (" + at.map((v) => v.toFixed(2)).join(", ") + ")." : "");
        LIVE.refill(changes, buttons(...CHANGES.map(([name, to]) => [name, () => preset(to), to.join() === all.join()])));
      }

      function solve() {
        const all = points();
        explain();
        if (all.length < LEAST) {
          board.draw([], grid());
          table.replaceChildren();
          said.say("Please set at least " + LEAST + " cities.");
          return;
        }
        const { trip, steps } = LIVE.driven(choosers[state.chooser], all),
          { length, right, best } = LIVE.judged("tour", all, trip),
          least = LIVE.tourLength(all, best);
        board.draw(
          [],
          grid(),
          make("polygon", { points: stops(all, best), class: "best" }),
          make("polygon", { points: stops(all, trip), class: "tour" }),
        );
        table.replaceChildren(
          make(
            "table",
            { class: "live-table", style: "table-layout: fixed" },
            make(
              "thead",
              {},
              make(
                "tr",
                {},
                make("th", { scope: "col", style: "width: 17%" }, "to city"),
                all.map((_, n) => make("th", { scope: "col" }, String(n))),
              ),
            ),
            make(
              "tbody",
              {},
              steps.map((chances, row) =>
                make(
                  "tr",
                  {},
                  make("th", { scope: "row", style: "white-space: nowrap" }, "from " + trip[row]),
                  chances.map((chance, n) => {
                    const there = trip.slice(0, row + 1).includes(n);
                    return make("td", {}, make(n === trip[row + 1] ? "strong" : "span", {}, there ? "×" : chance.toFixed(2)));
                  }),
                ),
              ),
            ),
          ),
          make(
            "p",
            { class: "live-before" },
            "The probabilities at each choice. Bold: chosen. ×: masked, because the courier has been there.",
          ),
        );
        const sure = steps.map((chances) => Math.max(...chances)),
          doubt = sure.indexOf(Math.min(...sure));
        said.say(
          "The trip is " +
            trip.join(", ") +
            ", of length " +
            length.toFixed(2) +
            ". " +
            (right
              ? "No trip is shorter."
              : "The shortest is " +
                best.join(", ") +
                ", of length " +
                least.toFixed(2) +
                "; this one is " +
                percent(length / least - 1) +
                " longer.") +
            " The least sure choice is number " +
            (doubt + 1) +
            ", with " +
            percent(sure[doubt]) +
            "." +
            (state.chooser === "network" && all.length !== SEEN ? " Training showed the network " + SEEN + " cities only." : ""),
        );
      }

      const anywhere = () => [Math.random(), Math.random()].map(LIVE.thousandths);
      const more = () => points().length < MOST && set([...points(), anywhere()]);
      room.append(
        choice(
          "Who chooses",
          [
            ["network", "the trained network"],
            ["hand", "the pointer by hand"],
          ],
          state.chooser,
          (chooser) => {
            kept({ chooser });
            solve();
          },
        ),
        make(
          "div",
          { class: "live-view" },
          make("div", {}, board.element, legend),
          make(
            "div",
            {},
            changes,
            buttons(
              ["one more", more],
              ["one fewer", () => points().length > LEAST && set(points().slice(0, -1))],
              ["random cities", () => preset(points().map(anywhere))],
            ),
            said.element,
          ),
        ),
        table,
      );
      solve();
    },
  });
})(globalThis);
