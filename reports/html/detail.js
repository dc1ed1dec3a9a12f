// One cell in full.

function framesOf(frames) {
  return el("ol", { class: "frames" }, frames.map((frame) => el("li", {}, el("span", { class: "at" }, frame.at), frame.in ? el("span", { class: "in" }, "  in " + frame.in) : "",
    frame.code ? el("span", { class: "code" }, frame.code) : "")));
}

function pairs(rows) {
  return el("dl", {}, rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function svg(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

/// Horizontal bars: {label, value, text, kind}; `limit` is drawn as a line.
function bars(rows, limit, title) {
  const height = rows.length * 24 + 6, left = 130, width = 205;
  const most = Math.max(...rows.map((row) => row.value), limit || 0, 1e-9);
  const chart = svg("svg", { class: "chart", viewBox: "0 0 520 " + height, role: "img", "aria-label": title + ": " + rows.map((row) => row.label + " " + row.text).join(", ") });
  rows.forEach((row, i) => {
    const y = i * 24 + 3;
    chart.append(svg("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, row.label.length > 18 ? row.label.slice(0, 17) + "…" : row.label));
    const long = Math.max(row.value > 0 ? 1.5 : 0, row.value / most * width);
    chart.append(svg("rect", { class: "bar " + (row.kind || ""), x: left, y, width: long, height: 18, rx: 2 }));
    chart.append(svg("text", { class: "soft", x: left + long + 6, y: y + 14 }, row.text));
  });
  if (limit) chart.append(svg("line", { class: "limit", x1: left + limit / most * width, x2: left + limit / most * width, y1: 0, y2: height }));
  return chart;
}

/// Eager against every fix at the same place: same case, torch, Liger, device, shape and seed.
function memoryOf(cell) {
  if (cell.eager === undefined && cell.compiled === undefined) return [];
  const peers = data.cells.filter((other) => other.case === cell.case && other.t === cell.t && other.l === cell.l && other.d === cell.d && other.shape === cell.shape && other.seed === cell.seed && other.compiled !== undefined);
  const rows = [];
  if (cell.eager !== undefined) rows.push({ label: "eager", value: cell.eager, text: bytes(cell.eager), kind: "eager" });
  for (const peer of peers) {
    const ratio = cell.eager ? "  " + (peer.compiled / cell.eager).toPrecision(3) + " x" : "";
    rows.push({ label: peer.fix === "none" ? "compiled" : peer.fix, value: peer.compiled, text: bytes(peer.compiled) + ratio + (peer.over ? "  over budget" : ""), kind: peer.over ? "over" : peer.fix === "none" ? "" : "fix" });
  }
  const out = [el("h3", {}, "Peak memory above the inputs"), bars(rows, cell.budget && cell.eager ? cell.budget * cell.eager : 0, "Peak memory")];
  if (cell.budget) out.push(el("p", { class: "sub" }, "Dashed: the budget, " + cell.budget + " times eager."));
  if (cell.blocks !== undefined)
    out.push(el("details", {}, el("summary", {}, "Largest blocks alive at the peak"), data.blocks[cell.blocks].map((block) => el("div", {}, el("b", {}, bytes(block.bytes)), framesOf(block.frames)))));
  return out;
}

function numericsOf(cell) {
  if (!cell.numerics) return cell.evidence === "emulated" ? [el("h3", {}, "Numbers"), el("p", { class: "sub" }, "Values were not computed: the device is emulated.")] : [];
  const out = [el("h3", {}, "Numbers, against eager")];
  for (const violation of cell.numerics.violations) out.push(el("p", { class: "alarm" }, violation));
  out.push(el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["tensor", "bitwise", "differ", "largest", "ulp", "bound", "holds"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, cell.numerics.tensors.map((t) => el("tr", {}, el("td", { class: "mono" }, t.name), el("td", {}, t.bitwise ? "yes" : "no"), el("td", { class: "num" }, number(t.mismatches)), el("td", { class: "num" }, t.max_abs),
      el("td", { class: "num" }, t.max_ulp), el("td", { class: "num" }, t.bound), el("td", {}, t.within === null ? "" : t.within ? "yes" : el("span", { class: "flag" }, "no")))))));
  for (const t of cell.numerics.tensors) {
    if (t.bitwise || t.ulp.length < 2) continue;
    out.push(el("p", { class: "sub" }, t.name + ": elements by difference in ulp, bars on a logarithmic scale" + (t.first ? "; the first that differs is " + t.first : "")));
    out.push(bars(t.ulp.map(([bucket, count]) => ({ label: bucket + " ulp", value: count ? Math.log10(count) + 1 : 0, text: number(count), kind: bucket === "0" ? "eager" : "fix" })), 0, "Differences of " + t.name + " in ulp"));
  }
  return out;
}

function launchesOf(cell) {
  if (cell.launches === undefined) return [];
  const log = data.launches[cell.launches];
  const rows = log.gemms.map((row, i) => el("tr", {}, el("td", { class: "num" }, i + 1), row.map((value) => el("td", { class: "mono" }, value))));
  return [el("h3", {}, "Launches"), el("details", {}, el("summary", {}, plural(log.gemm_count, "matrix product")),
    el("div", { class: "scrolly" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["", "call", "m x n x k", "types", "compute", ""].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows))),
    log.gemm_count > rows.length ? el("p", { class: "sub" }, "The first " + rows.length + "; the JSON report has more.") : ""),
    el("details", {}, el("summary", {}, plural(log.kernel_count, "kernel launch").replace("launchs", "launches")),
      el("div", { class: "scrolly" }, el("table", { class: "plain" }, el("tbody", {}, log.kernels.map(([name, count]) => el("tr", {}, el("td", { class: "num" }, number(count)), el("td", { class: "mono" }, name)))))))];
}

function exceptionOf(cell) {
  if (cell.exception === undefined) return [];
  const exception = data.exceptions[cell.exception];
  const out = [el("h3", {}, "Exception chain, outermost first")];
  exception.chain.forEach((link, i) => out.push(el("details", { open: i === exception.chain.length - 1 }, el("summary", {}, el("span", { class: "rel" }, link.relation + "  "), el("code", {}, link.type)),
    el("pre", {}, link.message), link.left_out ? el("p", { class: "sub" }, plural(link.left_out, "outer frame") + " left out") : "", framesOf(link.frames))));
  if (exception.user_frames.length) out.push(el("h3", {}, "Source lines outside torch"), framesOf(exception.user_frames));
  return out;
}

function detailOf(cell) {
  const mark = markOf(cell), signature = cell.sig ? data.signatures[cell.sig] : null, was = earlierOf(cell);
  const [torch, cuda, triton, python, gpu, git, lock] = cell.environment;
  const out = [el("div", { class: "top" }, el("h2", { id: "detail-title" }, swatch(mark), " " + cell.verdict + (signature ? ": " + signature.label : "")), el("button", { class: "close", type: "button", "aria-label": "Close the cell" }, "✕")),
    el("p", { class: "sub" }, cell.case + ", " + placeOf(cell))];
  if (cell.failure) out.push(el("p", { class: "failure" }, cell.failure));
  if (cell.why) out.push(el("p", {}, cell.why + (/[.!?]$/.test(cell.why) ? "" : ".")));
  if (was) out.push(el("p", {}, el("b", {}, was.mark === cell.mark ? "Same as before" : "Before: " + was.verdict + " (" + data.marks[was.mark].label + ")"), was.mark !== cell.mark && was.failure ? ", " + was.failure : "", ", run " + data.before.id));
  for (const finding of cell.findings || []) out.push(el("p", { class: cell.over ? "alarm" : "" }, finding));
  out.push(pairs([["Failure", signature ? signature.title : ""], ["Known", signature ? signature.known : ""], ["What to do", signature ? signature.todo : ""],
    ["See", signature && signature.links.length ? el("span", {}, signature.links.flatMap((link) => [safeLink(link), el("br")])) : ""],
    ["Target", cell.exception !== undefined && data.exceptions[cell.exception].target ? el("code", {}, data.exceptions[cell.exception].target) : ""], ["Stage", cell.stage],
    ["Call site", cell.site ? el("code", {}, cell.site) : ""], ["Standing", cell.standing ? STANDING[cell.standing] + (cell.expectation ? " (" + cell.expectation + ")" : "") : ""],
    ["Evidence", cell.evidence === "executed" ? "executed on a real GPU: the numbers count" : "compiled and launched on an emulated GPU: verdict and peak memory count"], ["Fingerprint", cell.fingerprint ? el("code", {}, cell.fingerprint) : ""]]));
  out.push(...memoryOf(cell), ...numericsOf(cell), ...exceptionOf(cell), ...launchesOf(cell));
  out.push(el("h3", {}, "Environment"), pairs([["PyTorch", torch + (git ? " (" + git.slice(0, 12) + ")" : "")], ["CUDA", cuda], ["Triton", triton], ["Liger", data.ligers[cell.l]], ["Python", python], ["GPU", gpu + (cell.evidence === "emulated" ? " (emulated)" : "")],
    ["Lock", lock ? el("code", {}, lock.slice(0, 16)) : ""], ["Time", (cell.timings || []).map(([name, text]) => name + " " + text).join(", ")], ["Files", cell.folder ? el("code", {}, cell.folder) : ""]]));
  out.push(el("h3", {}, "Repeat this cell"), el("pre", {}, cell.repeat));
  return out;
}
