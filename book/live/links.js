// Two columns of words with lines between them: what each word on the left attends to on the right.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, oneStop, percent } = LIVE;
  const ROW = 34; // pixels; live.css makes rows of phones as high as a finger

  // `weights[query][key]`; keys that a row does not reach are masked. `chose(query)` after the reader has chosen one;
  // `picked(key)` makes the words on the right buttons, too. `fault`: a query that is marked as wrong. Returns
  // { element, choose(query), pick(key) }; pick marks a word on the right.
  LIVE.links = function ({ queries, keys, weights, languages = [], chose, picked, fault = -1 }) {
    const height = ROW * Math.max(queries.length, keys.length);
    const walk = (event, q) => {
      const to = { ArrowDown: q + 1, ArrowUp: q - 1, Home: 0, End: queries.length - 1 }[event.key];
      if (to === undefined || !left.children[to]) {
        return;
      }
      event.preventDefault();
      choose(to);
      left.children[to].focus();
    };
    const left = make(
      "div",
      { class: "live-words", role: "group", "aria-label": "Words that attend: choose one" },
      queries.map((word, q) =>
        make(
          "button",
          {
            type: "button",
            class: q === fault ? "is-fault" : null,
            lang: languages[0],
            tabindex: -1,
            onclick: () => choose(q),
            onpointerenter: (event) => event.pointerType === "mouse" && choose(q),
            onkeydown: (event) => walk(event, q),
          },
          q === fault ? "✗ " + word : word,
        ),
      ),
    );
    const right = oneStop(
      make(
        "ol",
        { class: "live-words" },
        keys.map((word, k) =>
          make(
            "li",
            {},
            picked
              ? make(
                  "button",
                  {
                    type: "button",
                    lang: languages[1],
                    "aria-label": word + ", word " + (k + 1),
                    "aria-pressed": "false",
                    tabindex: k ? -1 : 0,
                    onclick: () => picked(k),
                  },
                  word,
                )
              : make("span", { lang: languages[1] }, word),
            make("b"),
          ),
        ),
      ),
      1,
    );
    const lines = make(
      "svg",
      { viewBox: "0 0 100 " + height, preserveAspectRatio: "none", "aria-hidden": "true" },
      weights.flatMap((row, q) =>
        Array.from(row, (w, k) => {
          const a = (q + 0.5) * ROW,
            b = (k + 0.5) * ROW;
          return w < 0.02
            ? null
            : make("path", {
                d: "M0 " + a + " C50 " + a + " 50 " + b + " 100 " + b,
                "data-query": q,
                "stroke-opacity": w.toFixed(3),
                "stroke-width": 1 + 5 * w,
                "vector-effect": "non-scaling-stroke",
              });
        }),
      ),
    );

    function choose(q) {
      Array.from(left.children, (button, at) => {
        button.setAttribute("aria-pressed", String(at === q));
        button.tabIndex = at === q ? 0 : -1;
      });
      lines.querySelectorAll("path").forEach((line) => line.classList.toggle("is-on", Number(line.dataset.query) === q));
      Array.from(right.children, (item, k) => {
        const reached = k < weights[q].length;
        item.style.setProperty("--w", (reached ? weights[q][k] : 0).toFixed(3));
        item.lastChild.textContent = reached ? percent(weights[q][k]) : "masked";
        item.classList.toggle("is-masked", !reached);
      });
      chose(q);
    }
    return {
      element: make("div", { class: "live-links", style: "--rows:" + Math.max(queries.length, keys.length) }, left, lines, right),
      choose,
      pick: (key) => right.querySelectorAll("button").forEach((one, k) => one.setAttribute("aria-pressed", String(k === key))),
    };
  };
})(globalThis);
