// How good a hull or a round trip of the pointer network is, in a sentence (engine/tours.js judges it).
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { counted, percent } = LIVE;
  const longer = (length, least) => percent(length / least - 1) + " longer";

  LIVE.hullInWords = function ({ right, missing, extra }) {
    const some = (count, ...what) => (count ? [counted(count, ...what)] : []);
    const wrong = [
      ...some(missing, "corner is missing", "corners are missing"),
      ...some(extra, "point is no corner", "points are no corners"),
    ];
    return right ? "the network's corners are those of the hull." : "the hull is wrong: " + (wrong.join(", and ") || "its order") + ".";
  };

  LIVE.tourInWords = function (points, { length, right, crossings, nearest, best, exact }) {
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
  };
})(globalThis);
