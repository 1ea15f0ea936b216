// Rows of bars and grids of cells, which several figures draw.
(function (root) {
  "use strict";
  const LIVE = root.LIVE,
    { make, oneStop } = LIVE;

  // A column of bars: [label, share, words] each; `title` stands above.
  LIVE.bars = (title, rows, colour = "") =>
    make(
      "div",
      { class: "live-bars " + colour },
      make("p", { class: "live-head" }, title),
      make(
        "ol",
        {},
        rows.map(([label, share, words]) =>
          make("li", { style: "--w:" + Math.max(0, Math.min(1, share)).toFixed(3) }, make("span", {}, label), make("b", {}, words)),
        ),
      ),
    );

  // A map of weights with names of rows and columns; `cell(row, column)` gives { weight, title, mark, text }, where
  // the text, a number, stands in the cell. `corner` says what the rows are, `over` what the columns are.
  LIVE.grid = function ({ rows, columns, cell, label, pressed, corner, over }) {
    const first = make("th", { rowspan: over ? 2 : null }, corner),
      above = over ? make("tr", {}, first, make("th", { scope: "colgroup", colspan: columns.length }, over)) : null;
    const head = make(
      "tr",
      {},
      above ? null : first,
      columns.map((name) => make("th", { scope: "col" }, make("span", { class: name.length < 3 ? "is-short" : null }, name))),
    );
    const body = rows.map((name, r) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        columns.map((_, c) => {
          const { weight, title, mark, text } = cell(r, c),
            style = "--w:" + weight.toFixed(3),
            shown = { class: [mark, weight > 0.6 && "is-strong"].filter(Boolean).join(" ") || null, style, title };
          if (!pressed) {
            return make("td", shown, text);
          }
          return make(
            "td",
            shown,
            make(
              "button",
              {
                type: "button",
                "aria-pressed": text == null ? String(weight > 0) : null,
                "aria-description": text,
                "aria-label": title,
                "data-cell": r + "," + c,
                tabindex: r || c ? -1 : 0,
                onclick: () => pressed(r, c),
              },
              text,
            ),
          );
        }),
      ),
    );
    const element = make(
      "div",
      { class: "live-scroll", tabindex: pressed ? null : 0, role: "region", "aria-label": label },
      make("table", { class: "live-grid" }, make("thead", {}, above, head), make("tbody", {}, body)),
    );
    return pressed ? oneStop(element, columns.length) : element;
  };
})(globalThis);
