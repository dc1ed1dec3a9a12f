#include "reports/html.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"
#include "reports/clean_text.h"
#include "reports/reproduction.h"
#include "reports/words.h"

namespace flce {

extern const std::string_view kPageHtml, kPageCss, kPageModelJs, kPageFoldJs, kPageMapJs, kPageDetailJs, kPageMainJs;

namespace {

constexpr size_t kMaxMessage = 12 * 1024;
constexpr size_t kMaxFrames = 24;
constexpr size_t kMaxGemms = 120;
constexpr size_t kMaxKernels = 60;

/// Values that many cells share, stored once: the page of a large matrix stays small.
class Pool {
 public:
  size_t Index(Json value) {
    const auto [it, is_new] = index_.try_emplace(value.dump(-1, ' ', false, Json::error_handler_t::replace), values_.size());
    if (is_new) values_.push_back(std::move(value));
    return it->second;
  }
  Json Take() { return std::move(values_); }

 private:
  std::map<std::string, size_t> index_;
  Json values_ = Json::array();
};

class PageData {
 public:
  PageData(const RunRecord& run, const ReportOptions& options) : run_(run), options_(options) {}

  Json Build(const RunRecord* before);

 private:
  std::string Line(std::string_view text, size_t limit = 400) const { return Scrub(ReadableLine(text, limit), options_.private_words); }
  std::string Block(std::string_view text) const { return Scrub(Readable(text, kMaxMessage), options_.private_words); }
  Json Frames(const std::vector<Frame>& frames) const;
  Json Exception(const ExceptionRecord& exception) const;
  Json LaunchLog(const Launches& launches) const;
  Json Numerics(const NumericsRecord& numerics) const;
  Json CellJson(const CellRecord& cell);
  size_t MarkIndex(const CellRecord& cell);
  Json Earlier(const RunRecord& before);

  const RunRecord& run_;
  const ReportOptions& options_;
  Pool marks_, exceptions_, launches_, blocks_;
  std::map<std::string, size_t> torch_index_, liger_index_, device_index_;
};

Json PageData::Frames(const std::vector<Frame>& frames) const {
  Json json = Json::array();
  // Innermost frames say most: the outer ones go first.
  const size_t from = frames.size() > kMaxFrames ? frames.size() - kMaxFrames : 0;
  for (size_t i = from; i < frames.size(); ++i) {
    Json frame = {{"at", Line(frames[i].file, 200) + ":" + std::to_string(frames[i].line)}, {"in", Line(frames[i].function, 120)}};
    if (!frames[i].code.empty()) frame["code"] = Line(frames[i].code, 300);
    json.push_back(std::move(frame));
  }
  return json;
}

Json PageData::Exception(const ExceptionRecord& exception) const {
  Json chain = Json::array();
  for (const ExceptionLink& link : exception.chain)
    chain.push_back({{"type", Line(link.type)}, {"message", Block(link.message)}, {"relation", Line(link.relation, 40)}, {"frames", Frames(link.frames)}, {"left_out", link.frames.size() > kMaxFrames ? link.frames.size() - kMaxFrames : 0}});
  return {{"chain", std::move(chain)}, {"target", Line(exception.target)}, {"user_frames", Frames(exception.user_frames)}};
}

Json PageData::LaunchLog(const Launches& launches) const {
  Json gemms = Json::array(), kernels = Json::array();
  for (size_t i = 0; i < std::min(launches.gemms.size(), kMaxGemms); ++i) {
    const GemmCall& g = launches.gemms[i];
    gemms.push_back({Line(g.api, 60), std::to_string(g.m) + " x " + std::to_string(g.n) + " x " + std::to_string(g.k) + (g.batch > 1 ? " x " + std::to_string(g.batch) : ""),
                     Line(g.a + ", " + g.b + " → " + g.c, 60), Line(g.compute, 20), g.accumulates ? "adds" : ""});
  }
  for (const auto& [name, count] : launches.kernels) {
    if (kernels.size() >= kMaxKernels) break;
    kernels.push_back({Line(name, 160), count});
  }
  return {{"gemms", std::move(gemms)}, {"gemm_count", launches.gemm_count}, {"kernels", std::move(kernels)}, {"kernel_count", launches.kernel_count}};
}

Json PageData::Numerics(const NumericsRecord& numerics) const {
  Json tensors = Json::array(), violations = Json::array();
  const auto number = [](const std::optional<double>& value) -> Json {
    char buffer[32];
    if (!value) return nullptr;
    std::snprintf(buffer, sizeof buffer, "%.4g", *value);
    return buffer;
  };
  for (const auto& [name, c] : numerics.tensors) {
    Json histogram = Json::array();
    for (const auto& [bucket, count] : c.ulp_histogram) histogram.push_back({Line(bucket, 40), count});
    tensors.push_back({{"name", Line(name, 40)}, {"bitwise", c.bitwise}, {"elements", c.elements}, {"mismatches", c.mismatches}, {"max_abs", number(c.max_abs)}, {"max_ulp", number(c.max_ulp)},
                       {"bound", number(c.bound)}, {"within", c.within_bound ? Json(*c.within_bound) : Json(nullptr)}, {"first", Line(c.first_mismatch, 60)}, {"ulp", std::move(histogram)}});
  }
  for (const std::string& violation : numerics.violations) violations.push_back(Line(violation));
  return {{"tensors", std::move(tensors)}, {"violations", std::move(violations)}};
}

size_t PageData::MarkIndex(const CellRecord& cell) {
  const Mark mark = MarkOf(cell, options_);
  return marks_.Index({{"class", static_cast<int>(mark.mark_class)}, {"sign", Line(mark.sign, 12)}, {"label", Line(mark.label, 80)}});
}

Json PageData::CellJson(const CellRecord& cell) {
  Json json = {{"id", Line(cell.id)},
               {"case", Line(cell.case_name, 100)},
               {"fix", Line(cell.fix.empty() ? "none" : cell.fix, 100)},
               {"t", torch_index_[PublicVersion(cell.torch)]},
               {"l", liger_index_[cell.liger]},
               {"d", device_index_[(cell.device_kind == DeviceKind::kCuda ? "gpu " : "") + cell.capability]},
               {"mark", MarkIndex(cell)},
               {"verdict", VerdictWords(cell)},
               {"evidence", Text(cell.verdict.evidence)},
               {"environment", {Line(cell.torch, 60), Line(cell.cuda, 20), Line(cell.triton, 20), Line(cell.python, 20), Line(cell.device_name, 80), Line(cell.torch_git, 40), Line(cell.lock_sha256, 64)}}};
  const auto put = [&](const char* key, std::string text) {
    if (!text.empty()) json[key] = std::move(text);
  };
  put("shape", cell.shape ? Text(*cell.shape) : "");
  put("seed", cell.seed ? std::to_string(*cell.seed) : "");
  put("sig", Line(cell.verdict.signature, 100));
  put("standing", cell.standing ? std::string(Text(*cell.standing)) : "");
  put("expectation", Line(cell.expectation));
  put("stage", cell.verdict.stage ? std::string(Text(*cell.verdict.stage)) : "");
  put("why", Line(cell.verdict.explanation, 800));
  put("site", Line(cell.call_site, 200));
  put("fingerprint", Line(cell.verdict.fingerprint, 80));
  put("failure", Line(FailureLine(cell), 500));
  put("repeat", Line(RepeatCommand(cell), 800));
  put("folder", Line(cell.folder, 200));
  put("memory_words", MemoryWords(cell));
  if (NeedsAttention(cell)) json["attention"] = true;
  if (OverBudget(cell)) json["over"] = true;
  if (cell.memory.eager_peak_bytes) json["eager"] = *cell.memory.eager_peak_bytes;
  if (cell.memory.compiled_peak_bytes) json["compiled"] = *cell.memory.compiled_peak_bytes;
  if (cell.memory.budget_ratio) json["budget"] = *cell.memory.budget_ratio;
  if (!cell.verdict.findings.empty()) {
    Json findings = Json::array();
    for (const Finding& finding : cell.verdict.findings) findings.push_back(Line(finding.text, 600));
    json["findings"] = std::move(findings);
  }
  if (cell.exception && !cell.exception->chain.empty()) json["exception"] = exceptions_.Index(Exception(*cell.exception));
  if (cell.launches) json["launches"] = launches_.Index(LaunchLog(*cell.launches));
  if (cell.numerics && cell.numerics->computed) json["numerics"] = Numerics(*cell.numerics);
  if (!cell.memory.top_blocks.empty()) {
    Json blocks = Json::array();
    for (const MemoryBlock& block : cell.memory.top_blocks) blocks.push_back({{"bytes", block.bytes}, {"frames", Frames(block.frames)}});
    json["blocks"] = blocks_.Index(std::move(blocks));
  }
  Json timings = Json::array();
  for (const auto& [name, ms] : cell.timings_ms) timings.push_back({Line(ReplaceAll(name, "_", " "), 60), HumanSeconds(ms / 1000)});
  if (!timings.empty()) json["timings"] = std::move(timings);
  return json;
}

/// The earlier run: what is needed to say what was.
Json PageData::Earlier(const RunRecord& before) {
  Json cells = Json::object();
  for (const CellRecord& cell : before.cells)
    cells[Line(cell.id)] = {{"mark", MarkIndex(cell)}, {"verdict", VerdictWords(cell)}, {"failure", Line(FailureLine(cell), 300)}, {"memory", MemoryWords(cell)}};
  return {{"id", Line(before.id, 80)}, {"started", Line(before.started, 40)}, {"cells", std::move(cells)}};
}

Json PageData::Build(const RunRecord* before) {
  std::vector<std::string> torches, ligers, devices;
  for (const CellRecord& cell : run_.cells) {
    torches.push_back(PublicVersion(cell.torch));
    ligers.push_back(cell.liger);
    devices.push_back((cell.device_kind == DeviceKind::kCuda ? "gpu " : "") + cell.capability);
  }
  const auto axis = [&](std::vector<std::string> values, std::map<std::string, size_t>& index) {
    Json names = Json::array();
    for (const std::string& value : SortedVersions(std::move(values))) {
      if (!index.try_emplace(value, names.size()).second) continue;
      names.push_back(Line(value, 60));
    }
    return names;
  };
  Json data = {{"tool", Line(run_.tool_version, 40)}, {"id", Line(run_.id, 80)}, {"started", Line(run_.started, 40)}, {"finished", Line(run_.finished, 40)}, {"headline", Line(Headline(run_, options_), 1000)}};
  std::vector<std::string> argv;
  for (const std::string& argument : run_.argv) argv.push_back(Line(argument));
  data["argv"] = Join(argv, " ");
  Json host = Json::array();
  for (const auto& [name, value] : run_.host) host.push_back({Line(name, 40), Line(value, 200)});
  data["host"] = std::move(host);
  data["torches"] = axis(std::move(torches), torch_index_);
  data["ligers"] = axis(std::move(ligers), liger_index_);
  data["devices"] = axis(std::move(devices), device_index_);

  Json signatures = Json::object(), cases = Json::object(), fixes = Json::array();
  for (const CellRecord& cell : run_.cells) {
    if (cell.verdict.signature.empty() || signatures.contains(Line(cell.verdict.signature, 100))) continue;
    const SignatureText text = SignatureOf(cell.verdict.signature, options_);
    signatures[Line(cell.verdict.signature, 100)] = {{"label", text.label}, {"title", text.title}, {"known", text.known_range}, {"todo", text.what_to_do}, {"links", text.links}};
  }
  for (const std::string& name : CaseNames(run_)) {
    const auto info = options_.cases.find(name);
    cases[Line(name, 100)] = info == options_.cases.end() ? "" : Line(info->second.title);
    for (const FixSummary& fix : FixSummaries(run_, name))
      if (fix.fix != "none")
        fixes.push_back({{"case", Line(name, 100)}, {"fix", Line(fix.fix, 60)}, {"works", fix.fixed}, {"affected", fix.affected}, {"fails", fix.failing}, {"ratio", fix.ratio}, {"eager", fix.eager_peak}, {"compiled", fix.compiled_peak}, {"over", fix.over_budget}, {"shape", fix.shape}, {"numbers", fix.numerics}, {"time", TimeWords(fix)}});
  }
  data["signatures"] = std::move(signatures);
  data["cases"] = std::move(cases);
  data["fixes"] = std::move(fixes);
  Json cells = Json::array();
  for (const CellRecord& cell : run_.cells) cells.push_back(CellJson(cell));
  data["cells"] = std::move(cells);
  if (before != nullptr) data["before"] = Earlier(*before);
  data["marks"] = marks_.Take();
  data["exceptions"] = exceptions_.Take();
  data["launches"] = launches_.Take();
  data["blocks"] = blocks_.Take();
  return data;
}

}  // namespace

std::string JsonForScript(std::string json) {
  json = ReplaceAll(std::move(json), "<", "\\u003c");
  json = ReplaceAll(std::move(json), "\xe2\x80\xa8", "\\u2028");
  return ReplaceAll(std::move(json), "\xe2\x80\xa9", "\\u2029");
}

std::string RenderHtml(const RunRecord& run, const ReportOptions& options, const RunRecord* before) {
  const std::string data = JsonForScript(PageData(run, options).Build(before).dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::pair<std::string_view, std::string> parts[] = {
      {"@CSS@", std::string(kPageCss)}, {"@DATA@", data},
      {"@SCRIPT@", "(function () {\n\"use strict\";\n" + std::string(kPageModelJs) + std::string(kPageFoldJs) + std::string(kPageMapJs) + std::string(kPageDetailJs) + std::string(kPageMainJs) + "})();\n"}};
  std::string out;
  // Each place is looked for in the page alone, never in what was put in.
  std::string_view rest = kPageHtml;
  for (const auto& [place, text] : parts) {
    const size_t at = rest.find(place);
    out += rest.substr(0, at);
    out += text;
    rest.remove_prefix(at + place.size());
  }
  return out + std::string(rest);
}

std::string RenderHtml(const RunRecord& run, const ReportOptions& options) { return RenderHtml(run, options, nullptr); }

}  // namespace flce
