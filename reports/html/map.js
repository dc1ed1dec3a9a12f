// Heat maps: one per case, fix, shape and seed. Rows are torch, columns Liger and capability.

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

function distinct(cells, key) { return [...new Set(cells.map((cell) => cell[key]))].sort((a, b) => a - b); }

function describe(cell) {
  const words = [placeOf(cell), markOf(cell).label];
  if (cell.standing) words.push(STANDING[cell.standing]);
  if (cell.over) words.push("over the memory budget");
  if (differs(cell)) words.push("was " + data.marks[earlierOf(cell).mark].label);
  return words.join("; ");
}

/// `change` is "changed" or "across" where a neighbouring torch gives something else, above or to the left.
function cellNode(cell, change) {
  const mark = markOf(cell);
  const classes = ["m", "k-" + kindOf(mark)];
  if (cell.over) classes.push("over");
  if (change) classes.push(change);
  if (differs(cell)) classes.push("differs");
  const node = el("td", {
    class: classes.join(" "), role: "gridcell", tabindex: "-1", "data-i": cell.index, "aria-label": describe(cell),
    "aria-selected": cell.index === state.selected ? "true" : "false"
  }, mark.sign);
  if (ARROW[cell.standing]) node.append(el("sup", { "aria-hidden": "true" }, ARROW[cell.standing]));
  return node;
}

/// Where the result changes from one torch to the next, columns with the same change together.
function changePoints(rows, columns, at) {
  const found = new Map();
  for (const column of columns) {
    let last = null;
    for (const row of rows) {
      const cell = at.get(row + "/" + column.l + "/" + column.d);
      if (!cell) continue;
      if (last && last.mark !== cell.mark) {
        const key = [last.t, cell.t, last.mark, cell.mark].join("/");
        if (!found.has(key)) found.set(key, { from: last, to: cell, columns: 0 });
        found.get(key).columns += 1;
        cell.changedFrom = last;
      }
      last = cell;
    }
  }
  return [...found.values()].sort((a, b) => a.to.t - b.to.t || b.columns - a.columns);
}

/// Columns by Liger: [["Liger 0.8.5", [{key, name, l, d}]]].
function placeSpans(cells) {
  const places = new Set(cells.map(placeKey));
  return distinct(cells, "l").map((l) => ["Liger " + data.ligers[l], distinct(cells, "d").filter((d) => places.has(l + "/" + d))
    .map((d) => ({ key: l + "/" + d, name: data.devices[d].replace("gpu ", "GPU "), l, d }))]);
}

/// Two rows: what the columns are, and their names beside those of the row axes.
function headOf(axes, spans) {
  const groups = el("tr", {}, axes.map(() => el("th", { scope: "col" })));
  const names = el("tr", {}, axes.map((axis) => el("th", { scope: "col" }, axis)));
  spans.forEach(([title, columns], i) => {
    if (i > 0) { groups.append(el("th", { class: "gap" })); names.append(el("th", { class: "gap" })); }
    groups.append(el("th", { colspan: String(columns.length), scope: "colgroup" }, title));
    for (const column of columns) names.append(el("th", { scope: "col" }, column.name));
  });
  return el("thead", {}, groups, names);
}

function figureOf(cells) {
  const rows = distinct(cells, "t");
  const at = new Map(cells.map((cell) => [cell.t + "/" + placeKey(cell), cell]));
  const spans = placeSpans(cells);
  const columns = spans.flatMap(([, group]) => group);
  for (const cell of cells) cell.changedFrom = null;
  const changes = changePoints(rows, columns, at);

  const first = cells[0];
  const over = cells.filter((cell) => cell.over).length;
  const caption = el("figcaption", {}, first.fix === "none" ? "No fix" : "Fix " + first.fix,
    el("span", {}, (first.shape ? "  " + first.shape : "") + (first.seed ? "  seed " + first.seed : "") + "  " + plural(cells.length, "cell") + (over ? ", " + over + " over the memory budget" : "")));

  const body = el("tbody");
  for (const t of rows) {
    const row = el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, data.torches[t]));
    let last = null;
    for (const column of columns) {
      if (last !== null && last !== column.l) row.append(el("td", { class: "gap" }));
      last = column.l;
      const cell = at.get(t + "/" + column.l + "/" + column.d);
      row.append(cell ? cellNode(cell, cell.changedFrom ? "changed" : "") : el("td", { class: "none", role: "gridcell" }));
    }
    body.append(row);
  }
  const table = el("table", { class: "map", role: "grid", "aria-label": first.case + ", " + (first.fix === "none" ? "no fix" : "fix " + first.fix) },
    headOf(["torch"], spans), body);
  const start = table.querySelector("td[data-i]");
  if (start) start.tabIndex = 0;

  const list = el("ul", { class: "changes" });
  for (const change of changes.slice(0, 6))
    list.append(el("li", {}, el("b", {}, data.torches[change.from.t] + " → " + data.torches[change.to.t]), "  " + markOf(change.from).label + " → " + markOf(change.to).label +
      (change.columns === columns.length ? ", everywhere" : ", " + plural(change.columns, "column"))));
  if (changes.length > 6) list.append(el("li", {}, "and " + (changes.length - 6) + " more"));
  return el("figure", {}, caption, el("div", { class: "scroll" }, table), changes.length ? list : "");
}

/// Cases that ran once are a list: a map of one square says nothing.
function listOf(cells) {
  const body = el("tbody");
  for (const cell of cells) {
    const mark = markOf(cell);
    const sign = el("td", { class: "m k-" + kindOf(mark), tabindex: "0", role: "button", "data-i": cell.index, "aria-label": cell.case + ": " + describe(cell) }, mark.sign);
    if (ARROW[cell.standing]) sign.append(el("sup", { "aria-hidden": "true" }, ARROW[cell.standing]));
    body.append(el("tr", { "data-i": cell.index }, sign, el("td", {}, el("b", {}, cell.case), el("br"), placeOf(cell)),
      el("td", {}, mark.label, cell.standing && cell.standing !== "expected" ? ", " + STANDING[cell.standing] : ""), el("td", { class: "mono" }, cell.failure || cell.why || "")));
  }
  return el("section", { class: "case" }, el("h2", {}, "Single cells"), el("table", { class: "list" }, body));
}

function drawMaps() {
  const main = byId("maps");
  const visible = data.cells.filter(matches);
  const { folds, rest } = foldsOf(groupsOf(visible));
  const parts = folds.map(foldedSection), single = [];
  for (const [name, groups] of groupBy(rest, (group) => group.cells[0].case)) {
    if (groups.length === 1 && groups[0].cells.length === 1) { single.push(groups[0].cells[0]); continue; }
    const section = el("section", { class: "case" }, el("h2", {}, name), data.cases[name] ? el("p", { class: "lead" }, data.cases[name]) : "");
    section.append(el("div", { class: "figures" }, groups.map((group) => figureOf(group.cells))));
    parts.push(section);
  }
  if (single.length) parts.push(listOf(single));
  if (!visible.length) parts.push(el("p", { class: "lead" }, "No cell matches these filters."));
  main.replaceChildren(...parts);
  byId("count").textContent = visible.length === data.cells.length ? plural(visible.length, "cell") : number(visible.length) + " of " + plural(data.cells.length, "cell");
}
