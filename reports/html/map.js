// Heat maps: one per case, fix and shape. Rows are torch, columns Liger and capability.

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

function cellNode(cell, changed) {
  const mark = markOf(cell);
  const classes = ["m", "k-" + kindOf(mark)];
  if (cell.over) classes.push("over");
  if (changed) classes.push("changed");
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

function figureOf(cells) {
  const rows = distinct(cells, "t");
  const at = new Map(cells.map((cell) => [cell.t + "/" + cell.l + "/" + cell.d, cell]));
  const columns = [];
  for (const l of distinct(cells, "l"))
    for (const d of distinct(cells, "d"))
      if (rows.some((t) => at.has(t + "/" + l + "/" + d))) columns.push({ l, d });
  for (const cell of cells) cell.changedFrom = null;
  const changes = changePoints(rows, columns, at);

  const first = cells[0];
  const over = cells.filter((cell) => cell.over).length;
  const caption = el("figcaption", {}, first.fix === "none" ? "No fix" : "Fix " + first.fix,
    el("span", {}, (first.shape ? "  " + first.shape : "") + "  " + plural(cells.length, "cell") + (over ? ", " + over + " over the memory budget" : "")));

  const ligerRow = el("tr", {}, el("th", { scope: "col" }, "torch"));
  const deviceRow = el("tr", {}, el("th", { scope: "col" }, "Liger, capability"));
  ligerRow.firstChild.textContent = "";
  deviceRow.firstChild.textContent = "torch";
  const spans = groupBy(columns, (column) => column.l);
  let firstGroup = true;
  for (const [l, group] of spans) {
    if (!firstGroup) { ligerRow.append(el("th", { class: "gap" })); deviceRow.append(el("th", { class: "gap" })); }
    firstGroup = false;
    ligerRow.append(el("th", { colspan: String(group.length), scope: "colgroup" }, "Liger " + data.ligers[l]));
    for (const column of group) deviceRow.append(el("th", { scope: "col" }, data.devices[column.d].replace("gpu ", "GPU ")));
  }
  const body = el("tbody");
  for (const t of rows) {
    const row = el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, data.torches[t]));
    let last = null;
    for (const column of columns) {
      if (last !== null && last !== column.l) row.append(el("td", { class: "gap" }));
      last = column.l;
      const cell = at.get(t + "/" + column.l + "/" + column.d);
      row.append(cell ? cellNode(cell, cell.changedFrom !== null) : el("td", { class: "none", role: "gridcell" }));
    }
    body.append(row);
  }
  const table = el("table", { class: "map", role: "grid", "aria-label": first.case + ", " + (first.fix === "none" ? "no fix" : "fix " + first.fix) },
    el("thead", {}, ligerRow, deviceRow), body);
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
  const parts = [], single = [];
  for (const [name, cells] of groupBy(visible, (cell) => cell.case)) {
    const figures = groupBy(cells, (cell) => cell.fix + "\n" + (cell.shape || ""));
    if (cells.length === 1) { single.push(cells[0]); continue; }
    const section = el("section", { class: "case" }, el("h2", {}, name), data.cases[name] ? el("p", { class: "lead" }, data.cases[name]) : "");
    section.append(el("div", { class: "figures" }, [...figures.values()].map(figureOf)));
    parts.push(section);
  }
  if (single.length) parts.push(listOf(single));
  if (!visible.length) parts.push(el("p", { class: "lead" }, "No cell matches these filters."));
  main.replaceChildren(...parts);
  byId("count").textContent = visible.length === data.cells.length ? plural(visible.length, "cell") : number(visible.length) + " of " + plural(data.cells.length, "cell");
}
