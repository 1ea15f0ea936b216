// The five cities of chapter 14: the reader moves them, exchanges two in the list or adds one, and sees every choice of the
// pointer by hand or of the trained network.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, choice, buttons, words, percent, pairs } = LIVE;
  const LEAST = 3,
    MOST = 8,
    SEEN = 5, // cities in training
    CITIES = [0.2, 0.8, 0.5, 0.3, 0.4, 0.6, 0.1, 0.3, 0.9, 0.6],
    SIXTH = [0.4, 0.1]; // as the chapter asks

  LIVE.figure("courier", {
    title: "Where does the pointer go next?",
    todo: "Make the three changes of the list above, one after the other. Then let the pointer by hand choose.",
    learned:
      "After the exchange, columns 1 and 3 have changed places and nothing else. With six cities the table has a sixth column, because the softmax runs over one score per city; its parameters stay the same. As city 5 moves up, the probabilities change gradually, and the network’s trips become too long. The mask keeps such a trip valid, but cannot repair it. The pointer by hand only prefers what is near.",
    about:
      "The network of this page’s file, trained on five cities (400 steps, seed 0), with its weights rounded to eight bits; and the pointer by hand, whose score is minus ten times the distance to the last city. The shortest trip is exact (Held and Karp).",
    packs: ["courier"],
    defaults: { chooser: "network", points: CITIES },
    draw(room, state, kept, pack) {
      const choosers = { network: LIVE.Courier(pack), hand: LIVE.courierByHand },
        said = words(),
        table = make("div", {});
      const points = () => pairs(state.points);
      const set = (next) => {
        kept({ points: next.flat() });
        solve();
      };
      const board = LIVE.pointBoard({ points, set, most: MOST, isStart: (n) => n === 0 });
      const stops = (all, trip) => trip.map((i) => board.xy(all[i]).join(",")).join(" ");

      function solve() {
        const all = points();
        if (all.length < LEAST) {
          board.draw([]);
          table.replaceChildren();
          said.say("Please set at least " + LEAST + " cities.");
          return;
        }
        const { trip, steps } = LIVE.driven(choosers[state.chooser], all),
          { length, right, best } = LIVE.judged("tour", all, trip),
          least = LIVE.tourLength(all, best);
        board.draw(
          [],
          make("polygon", { points: stops(all, best), class: "best" }),
          make("polygon", { points: stops(all, trip), class: "tour" }),
        );
        table.replaceChildren(
          make(
            "table",
            { class: "live-table" },
            make(
              "thead",
              {},
              make(
                "tr",
                {},
                make("th", { scope: "col" }, "to city"),
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
                  make("th", { scope: "row" }, "from " + trip[row]),
                  chances.map((chance, n) => make("td", {}, make(n === trip[row + 1] ? "strong" : "span", {}, chance.toFixed(2)))),
                ),
              ),
            ),
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

      const exchange = () => points().length > 3 && set(points().map((point, n, all) => (n === 1 ? all[3] : n === 3 ? all[1] : point)));
      const anywhere = () => [Math.random(), Math.random()].map(LIVE.thousandths);
      const more = () => points().length < MOST && set([...points(), points().length === SEEN ? SIXTH : anywhere()]);
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
          make("div", {}, board.element, make("p", { class: "live-before" }, "Thin line: the trip. Broad line: the shortest trip.")),
          make(
            "div",
            {},
            buttons(
              ["exchange cities 1 and 3", exchange],
              ["one more", more],
              ["one fewer", () => points().length > LEAST && set(points().slice(0, -1))],
              ["random cities", () => set(points().map(anywhere))],
            ),
            table,
            said.element,
          ),
        ),
      );
      solve();
    },
  });
})(globalThis);
