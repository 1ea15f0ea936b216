// Round trips and hulls without a network, to judge one by: nearest first, 2-opt, the shortest, Andrew's chains (chapter 14).
(function (root) {
  "use strict";
  const LIVE = root.LIVE;
  LIVE.MOST_CITIES = 13; // of the exact answer, as in the book's package

  const distances = (points) => points.map((a) => points.map((b) => Math.hypot(a[0] - b[0], a[1] - b[1])));

  // Length of the closed way through the points in this order.
  LIVE.tourLength = (points, tour) =>
    tour.reduce((sum, i, at) => {
      const next = points[tour[(at + 1) % tour.length]];
      return sum + Math.hypot(points[i][0] - next[0], points[i][1] - next[1]);
    }, 0);

  // From point 0 on, always to the nearest one that is left.
  LIVE.nearestFirst = function (points) {
    const way = distances(points),
      left = points.map((_, i) => i).slice(1),
      tour = [0];
    while (left.length) {
      const here = way[tour[tour.length - 1]],
        next = left.reduce((a, b) => (here[b] < here[a] ? b : a));
      left.splice(left.indexOf(next), 1);
      tour.push(next);
    }
    return tour;
  };

  // Takes two edges out and closes the tour the other way round, the best such pair first, until none helps (Croes 1958).
  LIVE.twoOpt = function (points, tour) {
    const way = distances(points),
      N = tour.length,
      stop = (i) => tour[i % N];
    for (;;) {
      let best = [1e-9];
      for (let i = 0; i < N; i++) {
        for (let j = i + 1; j < N; j++) {
          const gain = way[stop(i)][stop(i + 1)] + way[stop(j)][stop(j + 1)] - way[stop(i)][stop(j)] - way[stop(i + 1)][stop(j + 1)];
          if (gain > best[0]) {
            best = [gain, i, j];
          }
        }
      }
      if (best.length === 1) {
        return tour;
      }
      const [, i, j] = best;
      tour = [...tour.slice(0, i + 1), ...tour.slice(i + 1, j + 1).reverse(), ...tour.slice(j + 1)];
    }
  };

  // The shortest tour, for at most MOST_CITIES points. cost[S, j], the shortest way from point 0 through all of the set S that
  // ends at j, is the least of cost[S − {j}, i] + d(i, j) (Held and Karp 1962). Sets are binary numbers of the other points.
  LIVE.shortestTour = function (points) {
    const way = distances(points),
      m = points.length - 1,
      all = 2 ** m - 1,
      cost = new Float64Array((all + 1) * m).fill(Infinity),
      before = new Int8Array((all + 1) * m);
    for (let set = 1; set <= all; set++) {
      for (let j = 0; j < m; j++) {
        const rest = set ^ (1 << j);
        if (rest > set) {
          continue; // j isn't in the set
        }
        if (!rest) {
          cost[set * m + j] = way[0][j + 1];
        }
        for (let i = 0; i < m; i++) {
          const found = cost[rest * m + i] + way[i + 1][j + 1];
          if (found < cost[set * m + j]) {
            cost[set * m + j] = found;
            before[set * m + j] = i;
          }
        }
      }
    }
    const ends = Array.from({ length: m }, (_, j) => cost[all * m + j] + way[j + 1][0]),
      back = [];
    for (let set = all, j = ends.indexOf(Math.min(...ends)); set;) {
      back.push(j + 1);
      const next = before[set * m + j];
      set ^= 1 << j;
      j = next;
    }
    return [0, ...back.reverse()];
  };

  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  // How often a tour crosses itself; a shortest one never does.
  LIVE.crossings = function (points, tour) {
    const edges = tour.map((i, at) => [points[i], points[tour[(at + 1) % tour.length]]]);
    const cross = ([a, b], [c, d]) => turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
    return edges.reduce((sum, one, i) => sum + edges.slice(i + 1).filter((other) => cross(one, other)).length, 0);
  };

  // The corners of the convex hull, counter-clockwise, by Andrew's two chains.
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

  // How good an answer of a kind ("tour" or "hull") is. tour: { length, crossings, nearest, best (tours), exact }, hull: { right, missing, extra, best }.
  LIVE.judged = function (kind, points, tokens) {
    if (kind === "hull") {
      const best = LIVE.hull(points),
        from = best.indexOf(tokens[0]),
        right = best.slice(from).concat(best.slice(0, from)).join() === tokens.join(),
        without = (a, b) => a.filter((i) => !b.includes(i)).length;
      return { right, missing: without(best, tokens), extra: without(tokens, best), best };
    }
    const nearest = LIVE.nearestFirst(points),
      exact = points.length <= LIVE.MOST_CITIES,
      best = exact ? LIVE.shortestTour(points) : LIVE.twoOpt(points, nearest),
      length = LIVE.tourLength(points, tokens);
    return {
      length,
      right: length <= LIVE.tourLength(points, best) + 1e-6,
      crossings: LIVE.crossings(points, tokens),
      nearest,
      best,
      exact,
    };
  };
})(globalThis);
