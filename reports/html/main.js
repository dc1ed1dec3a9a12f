// Filters, selection and keys.
const state = { hidden: new Set(), case: "", fix: "", torch: "", liger: "", device: "", text: "", attention: false, differs: false, selected: -1 };
data.cells.forEach((cell, i) => {
  cell.index = i;
  cell.text = (cell.case + " " + placeOf(cell) + " " + markOf(cell).label + " " + (cell.failure || "") + " " + (cell.why || "") + " " + (cell.site || "")).toLowerCase();
});

function matches(cell) {
  return !state.hidden.has(cell.mark) && (state.case === "" || cell.case === state.case) && (state.fix === "" || cell.fix === state.fix) &&
    (state.torch === "" || cell.t === Number(state.torch)) && (state.liger === "" || cell.l === Number(state.liger)) && (state.device === "" || cell.d === Number(state.device)) &&
    (!state.attention || cell.attention) && (!state.differs || differs(cell)) && (state.text === "" || cell.text.includes(state.text));
}

function select(name, label, options) {
  if (options.length < 2) return "";
  const node = el("select", { "data-filter": name, "aria-label": label }, el("option", { value: "" }, "all"), options.map(([value, text]) => el("option", { value }, text)));
  node.addEventListener("change", () => { state[name] = node.value; drawMaps(); });
  return el("label", {}, label, node);
}

function check(name, label) {
  const node = el("input", { type: "checkbox", "data-filter": name });
  node.addEventListener("change", () => { state[name] = node.checked; drawMaps(); });
  return el("label", {}, node, label);
}

function drawFilters() {
  const counts = new Map();
  for (const cell of data.cells) counts.set(cell.mark, (counts.get(cell.mark) || 0) + 1);
  const order = [...counts.keys()].sort((a, b) => data.marks[a].class - data.marks[b].class || data.marks[a].sign.localeCompare(data.marks[b].sign));
  const chips = order.map((index) => {
    const mark = data.marks[index];
    const chip = el("button", { class: "chip", type: "button", "aria-pressed": "true", "data-mark": index }, swatch(mark), mark.label, el("span", { class: "n" }, number(counts.get(index))));
    chip.addEventListener("click", () => {
      const hide = !state.hidden.has(index);
      if (hide) state.hidden.add(index); else state.hidden.delete(index);
      chip.setAttribute("aria-pressed", String(!hide));
      drawMaps();
    });
    return chip;
  });
  const axis = (names) => names.map((name, i) => [String(i), name]);
  const words = (key) => [...new Set(data.cells.map((cell) => cell[key]))].map((name) => [name, name === "none" ? "no fix" : name]);
  const search = el("input", { type: "search", placeholder: "Search texts", "aria-label": "Search texts", "data-filter": "text" });
  let wait = 0;
  search.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(() => { state.text = search.value.trim().toLowerCase(); drawMaps(); }, 80); });
  const attention = data.cells.some((cell) => cell.attention), different = data.cells.some(differs);
  const reset = el("button", { class: "link", type: "button" }, "Show all");
  reset.addEventListener("click", () => {
    Object.assign(state, { case: "", fix: "", torch: "", liger: "", device: "", text: "", attention: false, differs: false });
    state.hidden.clear();
    drawFilters();
    drawMaps();
  });
  byId("filters").replaceChildren(el("div", { class: "chips", role: "group", "aria-label": "Results" }, chips),
    el("div", { class: "selects" }, search, select("case", "Case", words("case")), select("fix", "Fix", words("fix")), select("torch", "torch", axis(data.torches)), select("liger", "Liger", axis(data.ligers)),
      select("device", "Capability", axis(data.devices)), attention ? check("attention", "needs attention") : "", different ? check("differs", "differs from before") : "", reset,
      el("output", { id: "count", "aria-live": "polite" })));
}

function openCell(index, focus) {
  state.selected = index;
  for (const node of document.querySelectorAll('td[aria-selected="true"]')) node.setAttribute("aria-selected", "false");
  const square = document.querySelector('td[data-i="' + index + '"]');
  if (square) square.setAttribute("aria-selected", "true");
  const detail = byId("detail");
  detail.replaceChildren(...detailOf(data.cells[index]));
  detail.hidden = false;
  detail.scrollTop = 0;
  byId("layout").classList.add("open");
  detail.querySelector(".close").addEventListener("click", closeCell);
  history.replaceState(null, "", "#" + encodeURIComponent(data.cells[index].id));
  if (focus) detail.focus({ preventScroll: true });
}

function closeCell() {
  const square = document.querySelector('td[data-i="' + state.selected + '"]');
  state.selected = -1;
  byId("detail").hidden = true;
  byId("layout").classList.remove("open");
  history.replaceState(null, "", location.pathname + location.search);
  if (square) { square.setAttribute("aria-selected", "false"); if (square.getAttribute("role") === "gridcell") enter(square); square.focus(); }
}

/// Makes a square the one of its grid that is in the tab order.
function enter(square) {
  for (const node of square.closest("table").querySelectorAll('td[tabindex="0"]')) node.tabIndex = -1;
  square.tabIndex = 0;
}

/// Arrow keys move in a grid; one square of each grid is in the tab order.
function moveFocus(square, key) {
  const rows = [...square.closest("tbody").rows].map((row) => [...row.cells].filter((node) => node.dataset.i !== undefined));
  const row = rows.findIndex((squares) => squares.includes(square)), column = rows[row].indexOf(square);
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -column], End: [0, rows[row].length - 1 - column] }[key];
  if (!step) return false;
  const goal = rows[row + step[0]];
  const next = goal && goal[Math.min(column + step[1], goal.length - 1)];
  if (next) { enter(next); next.focus(); }
  return true;
}

function drawHead() {
  document.title = "flce-repro: " + data.headline;
  byId("headline").textContent = data.headline;
  byId("meta").textContent = [data.tool, "run " + data.id, data.started ? data.started.replace("T", " ").replace("Z", " UTC") : "", ...data.host.filter(([name]) => name === "os").map(([, value]) => value)].filter(Boolean).join(" · ");
  const standing = new Map();
  for (const cell of data.cells) if (cell.standing) standing.set(cell.standing, (standing.get(cell.standing) || 0) + 1);
  const facts = [el("span", {}, el("b", {}, number(data.cells.length)), data.cells.length === 1 ? " cell" : " cells")];
  for (const name of Object.keys(STANDING)) if (standing.has(name)) facts.push(el("span", { class: name === "regressed" ? "alarm" : "" }, el("b", {}, number(standing.get(name))), " " + STANDING[name]));
  const emulated = data.cells.filter((cell) => cell.evidence === "emulated").length;
  if (emulated) facts.push(el("span", {}, el("b", {}, number(emulated)), " emulated: verdicts and peak memory count, values were not computed"));
  byId("facts").replaceChildren(...facts);
  if (data.before) {
    const changed = data.cells.filter(differs), added = data.cells.filter((cell) => !earlierOf(cell)).length;
    const kinds = groupBy(changed, (cell) => data.marks[earlierOf(cell).mark].label + " → " + markOf(cell).label);
    byId("compared").hidden = false;
    byId("compared").replaceChildren(el("b", {}, changed.length ? plural(changed.length, "cell") + " differ" + (changed.length === 1 ? "s" : "") : "Nothing differs"), " from run " + data.before.id + (data.before.started ? " of " + data.before.started.slice(0, 10) : "") +
      (changed.length ? ": " : "") + [...kinds].map(([kind, cells]) => cells.length + " " + kind).join(", ") + (added ? "; " + plural(added, "cell") + " new" : "") + ".");
  }
  if (data.fixes.length) {
    const several = new Set(data.fixes.map((fix) => fix.case)).size > 1;
    const names = [...(several ? ["case"] : []), "fix", "works in", "peak, eager", "peak, compiled", "ratio", "", "time, eager -> compiled", "numbers, against eager"];
    byId("fixes").hidden = false;
    const rows = data.fixes.map((fix) => el("tr", {}, several ? el("td", {}, fix.case) : null, el("td", {}, el("b", {}, fix.fix)), el("td", { class: "num" }, fix.affected ? number(fix.works) + " of " + number(fix.affected) : "applies nowhere here"),
      el("td", { class: "num" }, fix.ratio ? bytes(fix.eager) : ""), el("td", { class: "num" }, fix.ratio ? bytes(fix.compiled) : ""), el("td", { class: "num" }, fix.ratio ? fix.ratio.toPrecision(3) + " x" : ""),
      el("td", {}, fix.over ? el("span", { class: "flag" }, "over budget") : ""), el("td", {}, fix.time), el("td", {}, fix.numbers || el("span", { class: "sub" }, "not computed"))));
    const table = el("table", { class: "plain" }, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows));
    byId("fixes").replaceChildren(rows.length <= 8 ? table : el("details", {}, el("summary", {}, "What " + plural(rows.length, "fix").replace("fixs", "fixes") + " give and cost, by case"), table));
  }
  byId("foot").replaceChildren("Made by flce-repro " + data.tool + " with ", el("code", {}, data.argv), ". A bar at a square's edge marks a change from the torch before; a red corner, memory over the budget; " + (data.before ? "a dark corner, another result than before; " : "") + "↓ regressed, ↑ better than expected, ~ another failure. Arrow keys move, Enter opens a cell, Escape closes it.");
}

document.addEventListener("click", (event) => {
  const target = event.target.closest ? event.target.closest("[data-i]") : null;
  if (target && byId("maps").contains(target)) openCell(Number(target.dataset.i), false);
});
document.addEventListener("mouseover", (event) => {
  const square = event.target.closest ? event.target.closest("td[data-i]") : null;
  if (square && !square.title) square.title = square.getAttribute("aria-label");
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.selected >= 0) return closeCell();
  const square = event.target.closest ? event.target.closest("td[data-i]") : null;
  if (!square || event.altKey || event.ctrlKey || event.metaKey) return undefined;
  if (event.key === "Enter" || event.key === " ") { openCell(Number(square.dataset.i), true); event.preventDefault(); }
  else if (square.getAttribute("role") === "gridcell" && moveFocus(square, event.key)) event.preventDefault();
  return undefined;
});

drawHead();
drawFilters();
drawMaps();
{
  let wanted = "";
  try { wanted = decodeURIComponent(location.hash.slice(1)); } catch (error) { wanted = ""; }
  const index = wanted ? data.cells.findIndex((cell) => cell.id === wanted) : data.cells.length === 1 ? 0 : -1;
  if (index >= 0) openCell(index, false);
}
document.documentElement.dataset.ready = String(Math.round(performance.now()));
