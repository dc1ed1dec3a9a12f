// The report's data, and small helpers. Texts become text nodes, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const KIND = ["known", "fixed", "quiet", "quiet", "quiet", "bad", "quiet", "bad", "bad", "env", "bad", "env"];
const STANDING = {
  expected: "as expected", regressed: "regressed", improved: "better than expected", changed: "another failure than expected",
  unlisted: "not in the expectations"
};
const ARROW = { regressed: "↓", improved: "↑", changed: "~" };

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

function byId(id) { return document.getElementById(id); }

function kindOf(mark) {
  if (mark.class !== 0) return KIND[mark.class] || "env";
  return mark.sign === "1" ? "tier1" : mark.sign === "2" ? "tier2" : "known";
}

function markOf(cell) { return data.marks[cell.mark]; }

function swatch(mark) { return el("span", { class: "swatch k-" + kindOf(mark), "aria-hidden": "true" }, mark.sign); }

function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < 4) { value /= 1000; unit += 1; }
  return (unit === 0 ? value.toFixed(0) : value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)) + " " + units[unit];
}

function number(value) { return value.toLocaleString("en-US"); }

function plural(count, word) { return number(count) + " " + word + (count === 1 ? "" : "s"); }

function deviceName(index) {
  const name = data.devices[index];
  return name.startsWith("gpu ") ? name : "emulated " + name;
}

function placeOf(cell) {
  return "torch " + data.torches[cell.t] + ", Liger " + data.ligers[cell.l] + ", " + deviceName(cell.d) +
    (cell.fix === "none" ? "" : ", fix " + cell.fix) + (cell.shape ? ", " + cell.shape : "") + (cell.seed ? ", seed " + cell.seed : "");
}

function earlierOf(cell) {
  if (!data.before || !Object.prototype.hasOwnProperty.call(data.before.cells, cell.id)) return null;
  return data.before.cells[cell.id];
}

/// True if the earlier run said something else of this cell (a cell that it did not have does not count).
function differs(cell) {
  const was = earlierOf(cell);
  return was !== null && was.mark !== cell.mark;
}

function safeLink(url) { return /^https:\/\//.test(url) ? el("a", { href: url, rel: "noreferrer noopener" }, url) : el("span", {}, url); }
