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
  return { folds, rest: groups.filter((group) => !taken.has(group)) };
}

/// Rows of a fold in an order that keeps a case's fixes, and a fix's shapes, together.
function rowsOf(cells) {
  const seen = ROW_AXES.map((axis) => [...new Set(cells.map((cell) => valueOf(cell, axis)))]);
  const rank = (row) => ROW_AXES.map((axis, i) => seen[i].indexOf(valueOf(row[0], axis)));
  const rows = [...groupBy(cells, (cell) => JSON.stringify(ROW_AXES.map((axis) => valueOf(cell, axis)))).values()];
  return rows.map((row) => ({ row, rank: rank(row) })).sort((a, b) => { const i = a.rank.findIndex((value, at) => value !== b.rank[at]); return a.rank[i] - b.rank[i]; }).map((entry) => entry.row);
}

function wordOf(axis, value) {
  if (axis === "fix") return value === "none" ? "no fix" : "fix " + value;
  return axis === "seed" ? "seed " + value : value;
}

function foldedSection(fold) {
  const { cells, across } = fold;
  const rows = rowsOf(cells);
  const axes = ROW_AXES.filter((axis) => cells.some((cell) => valueOf(cell, axis) !== valueOf(cells[0], axis)));
  const keyOf = across === "torch" ? (cell) => String(cell.t) : placeKey;
  const place = across === "torch" ? ["Liger " + data.ligers[cells[0].l], deviceName(cells[0].d)] : ["torch " + data.torches[cells[0].t]];
  const shared = ROW_AXES.filter((axis) => !axes.includes(axis) && valueOf(cells[0], axis) !== "").map((axis) => wordOf(axis, valueOf(cells[0], axis)));
  if (!axes.includes("case")) place.unshift(shared.shift());
  const spans = across === "torch" ? [["torch", distinct(cells, "t").map((t) => ({ key: String(t), name: data.torches[t] }))]] : placeSpans(cells);

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
