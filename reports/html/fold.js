// Many cases over one axis say the same words many times: their maps are folded into one, a row for each.
const FOLD_FROM = 3;
const ROW_AXES = ["case", "fix", "shape", "seed"];

function valueOf(cell, axis) { return cell[axis] || (axis === "fix" ? "none" : ""); }

/// Cells of one case, fix, shape and seed.
function groupsOf(cells) {
  const keyOf = (cell) => JSON.stringify(ROW_AXES.map((axis) => valueOf(cell, axis)));
  return [...groupBy(cells, keyOf).values()].map((members) => ({
    cells: members, torches: distinct(members, "t").length, places: new Set(members.map(placeKey)).size
  }));
}

function placeKey(cell) { return cell.l + "/" + cell.d; }

/// What goes into one table each, and what stays: {folds: [{cells, across}], rest: [group]}.
function foldsOf(groups) {
  const folds = [];
  const taken = new Set();
  const fold = (kind, keyOf, across) => {
    const found = groupBy(groups.filter((group) => !taken.has(group) && kind(group)), (group) => keyOf(group.cells[0]));
    for (const [key, members] of found) {
      if (members.length < FOLD_FROM) continue;
      // A case of one cell goes where the others of its place go.
      const alone = across === "torch" ? groups.filter((group) => group.cells.length === 1 && keyOf(group.cells[0]) === key) : [];
      for (const group of [...members, ...alone]) taken.add(group);
      folds.push({ cells: [...members, ...alone].flatMap((group) => group.cells), across });
    }
  };
  fold((group) => group.torches > 1 && group.places === 1, placeKey, "torch");
  fold((group) => group.torches === 1 && group.places > 1, (cell) => String(cell.t), "place");
  // Cases with nothing but one cell for each of several fixes: the fixes go across.
  for (const members of groupBy(groups.filter((group) => !taken.has(group) && group.cells.length === 1), (group) => group.cells[0].t + "/" + placeKey(group.cells[0])).values()) {
    const cells = members.map((group) => group.cells[0]);
    if (rowsOf(cells, ROW_AXES.filter((axis) => axis !== "fix")).length < FOLD_FROM || new Set(cells.map((cell) => cell.fix)).size < 2) continue;
    for (const group of members) taken.add(group);
    folds.push({ cells, across: "fix" });
  }
  return { folds, rest: groups.filter((group) => !taken.has(group)) };
}

/// Rows of a fold in an order that keeps a case's fixes, and a fix's shapes, together.
function rowsOf(cells, axes) {
  const seen = axes.map((axis) => [...new Set(cells.map((cell) => valueOf(cell, axis)))]);
  const rows = [...groupBy(cells, (cell) => JSON.stringify(axes.map((axis) => valueOf(cell, axis)))).values()]
    .map((row) => ({ row, rank: axes.map((axis, i) => seen[i].indexOf(valueOf(row[0], axis))) }));
  rows.sort((a, b) => { const i = a.rank.findIndex((value, at) => value !== b.rank[at]); return i < 0 ? 0 : a.rank[i] - b.rank[i]; });
  return rows.map((entry) => entry.row);
}

/// What a table's columns are, and the column of a cell.
function columnsOf(cells, across) {
  if (across === "torch") return { keyOf: (cell) => String(cell.t), spans: [["torch", distinct(cells, "t").map((t) => ({ key: String(t), name: data.torches[t] }))]] };
  if (across === "fix") return { keyOf: (cell) => cell.fix, spans: [["fix", [...new Set(cells.map((cell) => cell.fix))].map((fix) => ({ key: fix, name: fix === "none" ? "no fix" : fix }))]] };
  return { keyOf: placeKey, spans: placeSpans(cells) };
}

function wordOf(axis, value) {
  if (axis === "fix") return value === "none" ? "no fix" : "fix " + value;
  return axis === "seed" ? "seed " + value : value;
}

function foldedSection(fold) {
  const { cells, across } = fold, first = cells[0];
  const candidates = ROW_AXES.filter((axis) => axis !== across);
  const rows = rowsOf(cells, candidates);
  const axes = candidates.filter((axis) => cells.some((cell) => valueOf(cell, axis) !== valueOf(first, axis)));
  const { keyOf, spans } = columnsOf(cells, across);
  const place = [...(across === "torch" ? [] : ["torch " + data.torches[first.t]]), ...(across === "place" ? [] : ["Liger " + data.ligers[first.l], deviceName(first.d)])];
  const shared = candidates.filter((axis) => !axes.includes(axis) && valueOf(first, axis) !== "").map((axis) => wordOf(axis, valueOf(first, axis)));
  if (!axes.includes("case")) place.unshift(shared.shift());

  const body = el("tbody");
  let lastCase = null;
  for (const row of rows) {
    const node = el("tr", { role: "row" }, axes.map((axis) => {
      const value = valueOf(row[0], axis);
      return el("th", { scope: "row", role: "rowheader" }, value === "" ? "own" : axis === "fix" && value === "none" ? "no fix" : value);
    }));
    const at = new Map(row.map((cell) => [keyOf(cell), cell]));
    let last = null;
    spans.forEach(([, columns], i) => {
      if (i > 0) node.append(el("td", { class: "gap" }));
      for (const { key } of columns) {
        const cell = at.get(key);
        if (cell) cell.changedFrom = across === "torch" && last && last.mark !== cell.mark ? last : null;
        node.append(cell ? cellNode(cell, cell.changedFrom ? "across" : "") : el("td", { class: "none", role: "gridcell" }));
        last = cell || last;
      }
    });
    const name = row[0].case;
    if (axes.includes("case")) node.append(el("td", { class: "note" }, name === lastCase ? "" : data.cases[name]));
    lastCase = name;
    body.append(node);
  }
  const words = [...place, ...shared].join(", ");
  const table = el("table", { class: "map folded", role: "grid", "aria-label": words }, headOf(axes, spans), body);
  table.querySelector("td[data-i]").tabIndex = 0;
  const over = cells.filter((cell) => cell.over).length;
  return el("section", { class: "case" }, el("h2", {}, words), el("p", { class: "lead" }, "A row for each " + axes.join(" and ") + ": " + plural(cells.length, "cell") + (over ? ", " + over + " over the memory budget" : "")),
    el("div", { class: "scroll" }, table));
}
