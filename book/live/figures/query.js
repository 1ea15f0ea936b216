// A query among keys in the plane: scores, softmax, and the weighted sum of the values in a plane of their own.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, slider, choice, words, percent, short, signed, softmax, dot, pairs, planeLine } = LIVE;
  const HUES = [214, 28, 148, 330, 265];
  const SCORES = {
    dot: ["q · k", dot],
    scaled: ["q · k / √d", (q, k) => dot(q, k) / Math.SQRT2],
    nearest: ["q · k − ½‖k‖²", (q, k) => dot(q, k) - dot(k, k) / 2],
    cosine: ["cosine", (q, k) => dot(q, k) / (Math.hypot(...q) * Math.hypot(...k) || 1)],
  };
  // Scores, weights and context of a query. `kind`: a key of SCORES. `beta`: what the scores are multiplied by.
  LIVE.attendInPlane = function (query, keys, values, kind, beta) {
    const scores = keys.map((key) => SCORES[kind][1](query, key));
    const weights = Array.from(softmax(Float64Array.from(scores, (score) => beta * score)));
    const context = [0, 1].map((i) => values.reduce((sum, value, n) => sum + weights[n] * value[i], 0));
    return { scores, weights, context };
  };

  function table(names, found) {
    const cells = (n) => [signed(found.scores[n]), make("span", {}, percent(found.weights[n]))];
    const row = (name, n) =>
      make(
        "tr",
        { style: "--hue:" + HUES[n] + ";--w:" + found.weights[n].toFixed(3) },
        make("th", { scope: "row" }, name),
        cells(n).map((cell, c) => make("td", { class: c === 1 ? "bar" : null }, cell)),
      );
    const head = ["key", "score", "weight"].map((name) => make("th", { scope: "col" }, name));
    return [make("thead", {}, make("tr", {}, head)), make("tbody", {}, names.map(row))];
  }

  // Lines from one place to several, as thick as their weights.
  const lines = (plane, from, ends, weights) =>
    plane.under.replaceChildren(
      ...ends.map((end, n) =>
        planeLine(plane, from, end, { "stroke-width": 0.5 + 7 * weights[n], "stroke-opacity": 0.15 + 0.6 * weights[n] }),
      ),
    );

  // Numbers at the edges of a plane, and names of its two features, if they have any, at the ends of the axes.
  const QUIET = "font-size:13px;font-weight:400;stroke-width:3px;fill:var(--pst-color-text-muted)";
  function numbered(plane, features) {
    const write = (x, y, anchor, text) => make("text", { x, y, "text-anchor": anchor, style: QUIET, "aria-hidden": "true" }, text);
    const step = plane.range > 3 ? 2 : 1,
      [left, top] = plane.xy([0, 0]),
      end = plane.xy([plane.middle[0] + plane.range, 0])[0];
    const numbers = Array.from({ length: 25 }, (_, n) => (n - 12) * step).flatMap((v) => {
      const [x, y] = plane.xy([v, v]),
        text = short(v).replace("-", "−");
      return [
        Math.abs(x) < end - 16 ? write(x, end - 5, "middle", text) : null,
        Math.abs(y) < end - 16 ? write(4 - end, y + 4, "start", text) : null,
      ];
    });
    const [across, up] = features;
    const named = up ? [write(end - 4, top - 5, "end", across + " →"), write(left - 5, 15 - end, "end", up + " ↑")] : [];
    plane.under.before(make("g", {}, numbers, named));
  }

  // Names the context where it covers least: the plane gives names to points that can be moved.
  const SIZE = 12; // of a value's mark
  function nameContext(plane, names, values, context) {
    const places = [...values, context].map(plane.xy),
      far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const marks = places.map((at, n) => ({
      at,
      radius: Math.max(...places.map((other) => (far(at, other) < SIZE ? far(at, other) + SIZE : 0))),
      long: 11 * (names[n] || "context").length,
    }));
    const [x, y] = LIVE.placeNames(marks).at(-1);
    plane.under.append(make("text", { x, y: y + 6, "text-anchor": "middle", "aria-hidden": "true" }, "context"));
  }

  const note = (plane, text) =>
    plane.element.firstChild.after(make("p", { style: "margin:0.3rem 0 0;font-size:0.85rem;line-height:1.4" }, text));

  LIVE.figure("query", {
    title: "A query among keys in the plane",
    todo: "Drag the query (the ring) until k₂ has the largest weight. Where does the context go on the way?",
    learned:
      "It goes towards v₂ without a jump, because all three weights change smoothly. At k₂ itself, k₂ and k₃ have equal scores; k₂ has the largest weight only to the left of the vertical axis. The context never leaves the triangle between the three values, and is near a value that has nearly all the weight.",
    // `task` of the placement: what the reader does. "first" moves only points; "sharpness" asks about β and about the score, too.
    says: ({ task }) =>
      task === "sharpness"
        ? {
            todo: "The ring is your wish; it lies around the key of bread. With q · k the cookbook has the largest weight. Move β from one end to the other: does bread ever have it? Then choose q · k − ½‖k‖² and do the same. What does β change, and what does the score change? Last, choose q · k again and drag the ring: for which wishes does bread win?",
            learned:
              "With q · k bread never has the largest weight for your wish: β decides how sharp the weights are and never which one is the largest, so the borders between the colours get sharper and stay where they are. A small β brings the context near the mean of the three values, and a large one to the value of the book that is ahead. The score decides which book that is. With q · k − ½‖k‖² it is always the nearest one, so each border lies halfway between two keys. With the cosine only the directions count, and all borders meet in the origin. With q · k bread wins for wishes with more than three times as much history as food (if neither is negative).",
          }
        : {},
    about: "Keys and values with two features each, placed by hand; nothing is trained here.",
    // The example of chapter 0. A window: its middle, and how far it reaches to each side. `kinds`: the scores to choose from.
    // `axes`: names of the two features.
    defaults: {
      names: "k₁ k₂ k₃",
      query: [2, 1],
      keys: [1, 0, 0, 1, 1, 1],
      values: [4, 0, 0, 4, 4, 4],
      kinds: "dot scaled cosine",
      kind: "dot",
      task: "first",
      axes: "",
      beta: 1,
      keyWindow: [0.4, 0.4, 2.3],
      valueWindow: [2, 2, 2.8],
    },
    draw(room, state, kept) {
      const said = words(),
        names = state.names.split(" "),
        hues = HUES.slice(0, names.length),
        board = make("table", { class: "live-table" }),
        plain = state.task === "first" && state.kind === "dot" && state.beta === 1; // a link may say otherwise
      const window = ([x, y, range]) => ({ middle: [x, y], range });
      const keyPlane = LIVE.plane({
        label: "The query and the keys",
        ...window(state.keyWindow),
        moved: moveKey,
        points: [
          ...pairs(state.keys).map((at, n) => ({ name: names[n], at, kind: "key", hue: HUES[n] })),
          { name: "query", at: state.query, kind: "query", hue: 0 },
        ],
      });
      const valuePlane = LIVE.plane({
        label: "The values, and the context between them",
        ...window(state.valueWindow),
        moved: moveValue,
        points: [
          ...pairs(state.values).map((at, n) => ({
            name: names[n].replace(/^k(?=[₁-₉])/, "v"),
            spoken: "value of " + names[n],
            at,
            kind: "value",
            hue: HUES[n],
          })),
          { name: "context", at: [0, 0], kind: "context", hue: 0, fixed: true },
        ],
      });

      [keyPlane, valuePlane].forEach((plane) => numbered(plane, state.axes ? state.axes.split(" ") : []));
      const dot = valuePlane.element.querySelector(".is-context > circle");
      dot.style.fill = "var(--pst-color-text-base)"; // no key's colour
      dot.setAttribute("r", 8); // so that the line to a close value is seen
      note(
        keyPlane,
        "Each point of the background is a possible query, coloured by its weights (grey: nearly equal). A larger circle is a key with more weight for the ring.",
      );
      note(valuePlane, "The larger a square and the thicker its line, the more of this value is in the context.");

      function moveKey(number, at) {
        kept(number === names.length ? { query: at } : { keys: state.keys.toSpliced(2 * number, 2, ...at) });
        show(number !== names.length);
      }
      function moveValue(number, at) {
        kept({ values: state.values.toSpliced(2 * number, 2, ...at) });
        show(false);
      }

      function show(colours = true) {
        const keys = pairs(state.keys),
          values = pairs(state.values),
          attend = (at) => LIVE.attendInPlane(at, keys, values, state.kind, state.beta);
        const found = attend(state.query);
        if (colours) {
          LIVE.colour(keyPlane, hues, (at) => attend(at).weights);
        }
        const position = (at) => "at " + at.map((v) => signed(v)).join(", ");
        keys.forEach((at, n) =>
          keyPlane.show(n, {
            at,
            radius: 7 + 16 * Math.sqrt(found.weights[n]),
            words: position(at) + ", weight " + percent(found.weights[n]),
          }),
        );
        // the ring lies around a key that it would cover
        const apart = keys.map((at) => Math.hypot(...keyPlane.xy(at).map((v, i) => v - keyPlane.xy(state.query)[i])));
        const ring = Math.max(...apart.map((far, n) => (far < 12 ? far + 13 + 16 * Math.sqrt(found.weights[n]) : 11)));
        keyPlane.show(names.length, { at: state.query, radius: ring, words: position(state.query) });
        values.forEach((at, n) => {
          valuePlane.show(n, { at, radius: 5 + 8 * Math.sqrt(found.weights[n]), words: position(at) });
        });
        valuePlane.show(names.length, { at: found.context });
        lines(keyPlane, [0, 0], [state.query], [0.3]);
        lines(valuePlane, found.context, values, found.weights);
        nameContext(valuePlane, names, values, found.context);
        board.replaceChildren(...table(names, found));
        const most = percent(Math.max(...found.weights)),
          first = names.filter((_, n) => percent(found.weights[n]) === most);
        said.say(
          first.join(", ") +
            (first.length > 1 ? " have the largest weights, " + most + " each" : " has the largest weight, " + most) +
            ". The context is (" +
            found.context.map((v) => signed(v)).join(", ") +
            ").",
        );
      }

      const sharpness = slider(
        "β, which multiplies the scores",
        { from: -1.5, to: 1.7, step: 0.02, value: Math.log10(state.beta), shown: (n) => "β = " + short(10 ** n) },
        (n) => {
          kept({ beta: Number((10 ** n).toPrecision(3)) });
          show();
        },
      );
      const score = () =>
        choice(
          "Score",
          state.kinds.split(" ").map((kind) => [kind, SCORES[kind][0]]),
          state.kind,
          (kind) => {
            kept({ kind });
            show();
          },
        );
      room.append(
        ...(plain ? [] : [score(), sharpness]),
        make(
          "div",
          { class: "live-planes" },
          make("div", {}, make("p", { class: "live-head" }, "Keys, and the query"), keyPlane.element),
          make("div", {}, make("p", { class: "live-head" }, "Values, and the context"), valuePlane.element),
        ),
        board,
        said.element,
      );
      show();
    },
  });
})(globalThis);
