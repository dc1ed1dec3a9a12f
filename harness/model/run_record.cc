#include "harness/model/run_record.h"

#include <cmath>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

/// JSON has no NaN or infinity: they are written as text, so that a reader sees them and a parser does not fail.
Json Number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double NumberFrom(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return 0;
  const std::string& text = value.get_ref<const std::string&>();
  return text == "inf" ? INFINITY : text == "-inf" ? -INFINITY : NAN;
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json TextOrNull(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json ComparisonJson(const TensorComparison& c) {
  Json json = {{"bitwise", c.bitwise}, {"elements", c.elements}, {"mismatches", c.mismatches}, {"max_abs", Number(c.max_abs)}};
  if (c.max_ulp) json["max_ulp"] = Number(*c.max_ulp);
  if (c.bound) json["bound"] = Number(*c.bound);
  if (c.within_bound) json["within_bound"] = *c.within_bound;
  if (!c.ulp_histogram.empty()) {
    Json histogram = Json::object();
    for (const auto& [bucket, count] : c.ulp_histogram) histogram[bucket] = count;
    json["ulp_histogram"] = std::move(histogram);
  }
  if (!c.first_mismatch.empty()) json["first_mismatch"] = c.first_mismatch;
  return json;
}

TensorComparison ComparisonFrom(JsonReader& reader) {
  TensorComparison c;
  reader.Read("bitwise", c.bitwise);
  reader.Read("elements", c.elements);
  reader.Read("mismatches", c.mismatches);
  if (const Json* member = reader.Member("max_abs")) c.max_abs = NumberFrom(*member);
  if (const Json* member = reader.Member("max_ulp")) c.max_ulp = NumberFrom(*member);
  if (const Json* member = reader.Member("bound")) c.bound = NumberFrom(*member);
  reader.Read("within_bound", c.within_bound);
  reader.Read("first_mismatch", c.first_mismatch);
  if (const Json* member = reader.Member("ulp_histogram"); member != nullptr && member->is_object())
    for (const auto& [bucket, count] : member->items())
      c.ulp_histogram.emplace_back(bucket, count.is_number_unsigned() ? count.get<uint64_t>() : 0);
  return c;
}

Json ExceptionJson(const ExceptionRecord& exception) {
  Json json = {{"type", exception.chain.front().type},
               {"first_line", FirstLine(exception.chain.front().message)},
               {"target", TextOrNull(exception.target)}};
  Json whole = ToJson(exception);
  json["chain"] = std::move(whole["chain"]);
  json["user_frames"] = std::move(whole["user_frames"]);
  return json;
}

Json NumericsJson(const NumericsRecord& numerics) {
  Json json = {{"computed", numerics.computed}};
  for (const auto& [name, comparison] : numerics.tensors) json[name] = ComparisonJson(comparison);
  if (numerics.computed) json["violations"] = numerics.violations;
  return json;
}

Json MemoryJson(const MemoryRecord& memory) {
  Json json = {{"eager_peak_bytes", OrNull(memory.eager_peak_bytes)}, {"compiled_peak_bytes", OrNull(memory.compiled_peak_bytes)}};
  const bool both = memory.eager_peak_bytes && memory.compiled_peak_bytes && *memory.eager_peak_bytes > 0;
  json["ratio"] = both ? Json(static_cast<double>(*memory.compiled_peak_bytes) / static_cast<double>(*memory.eager_peak_bytes))
                       : Json(nullptr);
  json["budget_ratio"] = OrNull(memory.budget_ratio);
  Json blocks = Json::array();
  for (const MemoryBlock& block : memory.top_blocks) blocks.push_back(ToJson(block));
  json["top_blocks"] = std::move(blocks);
  return json;
}

Json LaunchesJson(const std::optional<Launches>& launches) {
  if (!launches) return nullptr;
  Json gemms = Json::array();
  for (const GemmCall& gemm : launches->gemms) gemms.push_back(ToJson(gemm));
  return {{"gemms", std::move(gemms)},
          {"gemm_count", launches->gemm_count},
          {"kernels", launches->kernel_count},
          {"by_kernel", launches->kernels}};
}

Status ReadLaunches(const Json& json, const std::string& path, std::optional<Launches>& into) {
  Launches launches;
  JsonReader reader(json, path);
  reader.Read("gemm_count", launches.gemm_count);
  reader.Read("kernels", launches.kernel_count);
  reader.Read("by_kernel", launches.kernels);
  reader.ForEach("gemms", [&](const Json& element, const std::string& where) -> Status {
    FLCE_TRY(GemmCall gemm, GemmCallFromJson(element, where));
    launches.gemms.push_back(std::move(gemm));
    return Done{};
  });
  FLCE_TRY_DO(reader.status());
  into = std::move(launches);
  return Done{};
}

Status ReadMemory(const Json& json, const std::string& path, MemoryRecord& memory) {
  JsonReader reader(json, path);
  reader.Read("eager_peak_bytes", memory.eager_peak_bytes);
  reader.Read("compiled_peak_bytes", memory.compiled_peak_bytes);
  reader.Read("budget_ratio", memory.budget_ratio);
  reader.ForEach("top_blocks", [&](const Json& element, const std::string& where) -> Status {
    FLCE_TRY(MemoryBlock block, MemoryBlockFromJson(element, where));
    memory.top_blocks.push_back(std::move(block));
    return Done{};
  });
  return reader.status();
}

}  // namespace

Result<NumericsRecord> NumericsRecordFromJson(const Json& json, const std::string& path) {
  NumericsRecord numerics;
  JsonReader reader(json, path);
  reader.Read("computed", numerics.computed);
  reader.Read("violations", numerics.violations);
  FLCE_TRY_DO(reader.status());
  for (const auto& [name, member] : json.items()) {
    if (name != "loss" && name != "result" && !name.starts_with("grad_")) continue;
    JsonReader item(member, path + "." + name);
    numerics.tensors[name] = ComparisonFrom(item);
    FLCE_TRY_DO(item.status());
  }
  return numerics;
}

Json ToJson(const CellRecord& cell) {
  Json findings = Json::array();
  for (const Finding& finding : cell.verdict.findings) findings.push_back({{"kind", finding.kind}, {"text", finding.text}});
  return {
      {"id", cell.id},
      {"case", cell.case_name},
      {"fix", cell.fix},
      {"torch", {{"version", cell.torch}, {"git", TextOrNull(cell.torch_git)}, {"cuda", TextOrNull(cell.cuda)}}},
      {"triton", TextOrNull(cell.triton)},
      {"liger", {{"version", cell.liger}, {"call_site", TextOrNull(cell.call_site)}}},
      {"python", TextOrNull(cell.python)},
      {"device", {{"kind", Text(cell.device_kind)}, {"name", TextOrNull(cell.device_name)}, {"capability", cell.capability}}},
      {"shape", cell.shape ? Json(Text(*cell.shape)) : Json(nullptr)},
      {"seed", OrNull(cell.seed)},
      {"poisoned", OrNull(cell.poisoned)},
      {"evidence", Text(cell.verdict.evidence)},
      {"outcome", Text(cell.verdict.outcome)},
      {"reason", TextOrNull(Text(cell.verdict.reason))},
      {"signature", TextOrNull(cell.verdict.signature)},
      {"standing", cell.standing ? Json(Text(*cell.standing)) : Json(nullptr)},
      {"expectation", TextOrNull(cell.expectation)},
      {"stage", cell.verdict.stage ? Json(Text(*cell.verdict.stage)) : Json(nullptr)},
      {"explanation", cell.verdict.explanation},
      {"findings", std::move(findings)},
      {"exception", cell.exception ? ExceptionJson(*cell.exception) : Json(nullptr)},
      {"fingerprint", TextOrNull(cell.verdict.fingerprint)},
      {"numerics", cell.numerics ? NumericsJson(*cell.numerics) : Json(nullptr)},
      {"memory", MemoryJson(cell.memory)},
      {"launches", LaunchesJson(cell.launches)},
      {"eager_launches", LaunchesJson(cell.eager_launches)},
      {"timings_ms", cell.timings_ms},
      {"environment", {{"lock_sha256", TextOrNull(cell.lock_sha256)}}},
      {"origin", cell.origin},
      {"seconds", cell.seconds},
      {"folder", TextOrNull(cell.folder)},
  };
}

Json ToJson(const RunRecord& run) {
  Json by_outcome = Json::object(), by_standing = Json::object();
  for (Outcome outcome : AllOutcomes()) {
    int count = 0;
    for (const CellRecord& cell : run.cells) count += cell.verdict.outcome == outcome;
    if (count > 0) by_outcome[std::string(Text(outcome))] = count;
  }
  for (Standing standing : AllStandings()) {
    int count = 0;
    for (const CellRecord& cell : run.cells) count += cell.standing == standing;
    if (count > 0) by_standing[std::string(Text(standing))] = count;
  }
  Json cells = Json::array();
  for (const CellRecord& cell : run.cells) cells.push_back(ToJson(cell));
  Json controls = Json::array();
  for (const ControlRecord& control : run.controls)
    controls.push_back({{"role", control.role},
                        {"case", control.case_name},
                        {"outcome", Text(control.outcome)},
                        {"as_required", control.as_required},
                        {"explanation", control.text}});
  return {{"schema_version", kSchemaVersion},
          {"tool", {{"name", "flce-repro"}, {"version", run.tool_version}}},
          {"run", {{"id", run.id}, {"started", run.started}, {"finished", run.finished}, {"argv", run.argv}, {"host", run.host}}},
          {"summary",
           {{"cells", run.cells.size()},
            {"by_outcome", std::move(by_outcome)},
            {"by_standing", std::move(by_standing)},
            {"exit_code", run.exit_code}}},
          {"controls", std::move(controls)},
          {"cells", std::move(cells)}};
}

Result<CellRecord> CellRecordFromJson(const Json& json) {
  CellRecord cell;
  std::string id = "?";
  if (json.is_object() && json.contains("id") && json["id"].is_string()) id = json["id"].get<std::string>();
  const std::string path = "cell '" + id + "'";
  JsonReader reader(json, path);
  reader.Read("id", cell.id);
  reader.Read("case", cell.case_name);
  reader.Read("fix", cell.fix);
  reader.Read("triton", cell.triton);
  reader.Read("python", cell.python);
  reader.ReadWord("evidence", cell.verdict.evidence, ParseEvidence);
  reader.ReadWord("outcome", cell.verdict.outcome, ParseOutcome);
  reader.ReadWord("reason", cell.verdict.reason, ParseReason);
  reader.Read("signature", cell.verdict.signature);
  if (reader.Member("stage") != nullptr) {
    Stage stage{};
    reader.ReadWord("stage", stage, ParseStage);
    cell.verdict.stage = stage;
  }
  if (reader.Member("standing") != nullptr) {
    Standing standing{};
    reader.ReadWord("standing", standing, ParseStanding);
    cell.standing = standing;
  }
  reader.Read("expectation", cell.expectation);
  reader.Read("explanation", cell.verdict.explanation);
  reader.Read("fingerprint", cell.verdict.fingerprint);
  reader.Read("timings_ms", cell.timings_ms);
  reader.Read("origin", cell.origin);
  reader.Read("seconds", cell.seconds);
  reader.Read("folder", cell.folder);
  reader.Read("seed", cell.seed);
  reader.Read("poisoned", cell.poisoned);
  reader.ForEach("findings", [&](const Json& element, const std::string& where) -> Status {
    Finding finding;
    JsonReader item(element, where);
    item.Read("kind", finding.kind);
    item.Read("text", finding.text);
    cell.verdict.findings.push_back(std::move(finding));
    return item.status();
  });
  FLCE_TRY_DO(reader.status());

  static const Json kNothing = nullptr;
  const auto part = [&](const char* key) -> const Json& {
    const Json* member = reader.Member(key);
    return member == nullptr ? kNothing : *member;
  };
  JsonReader torch(part("torch"), path + ".torch");
  torch.Read("version", cell.torch);
  torch.Read("git", cell.torch_git);
  torch.Read("cuda", cell.cuda);
  FLCE_TRY_DO(torch.status());
  JsonReader liger(part("liger"), path + ".liger");
  liger.Read("version", cell.liger);
  liger.Read("call_site", cell.call_site);
  FLCE_TRY_DO(liger.status());
  JsonReader device(part("device"), path + ".device");
  device.ReadWord("kind", cell.device_kind, ParseDeviceKind);
  device.Read("name", cell.device_name);
  device.Read("capability", cell.capability);
  FLCE_TRY_DO(device.status());
  JsonReader environment(part("environment"), path + ".environment");
  environment.Read("lock_sha256", cell.lock_sha256);
  FLCE_TRY_DO(environment.status());

  if (const Json* shape = reader.Member("shape")) {
    FLCE_TRY(cell.shape, ParseShape(shape->is_string() ? shape->get<std::string>() : ""));
  }
  if (const Json* exception = reader.Member("exception")) {
    FLCE_TRY(cell.exception, ExceptionRecordFromJson(*exception));
  }
  if (const Json* numerics = reader.Member("numerics")) {
    FLCE_TRY(cell.numerics, NumericsRecordFromJson(*numerics, path + ".numerics"));
  }
  if (const Json* memory = reader.Member("memory")) FLCE_TRY_DO(ReadMemory(*memory, path + ".memory", cell.memory));
  if (const Json* launches = reader.Member("launches")) FLCE_TRY_DO(ReadLaunches(*launches, path + ".launches", cell.launches));
  if (const Json* launches = reader.Member("eager_launches")) FLCE_TRY_DO(ReadLaunches(*launches, path + ".eager_launches", cell.eager_launches));
  return cell;
}

Result<RunRecord> RunRecordFromJson(const Json& json) {
  RunRecord run;
  JsonReader reader(json, "report");
  std::string schema;
  reader.Read("schema_version", schema);
  FLCE_TRY_DO(reader.status());
  const std::string major = schema.substr(0, schema.find('.'));
  if (schema.empty()) return Error{ErrorKind::kData, "report: no schema_version, so this is no report of flce-repro"};
  if (major != "1")
    return Error{ErrorKind::kData, "report: schema_version " + schema + " is too " + (major == "0" ? "old" : "new") + "; this program reads 1.x"};

  static const Json kNothing = nullptr;
  const auto part = [&](const char* key) -> const Json& {
    const Json* member = reader.Member(key);
    return member == nullptr ? kNothing : *member;
  };
  JsonReader tool(part("tool"), "report.tool");
  tool.Read("version", run.tool_version);
  FLCE_TRY_DO(tool.status());
  JsonReader meta(part("run"), "report.run");
  meta.Read("id", run.id);
  meta.Read("started", run.started);
  meta.Read("finished", run.finished);
  meta.Read("argv", run.argv);
  meta.Read("host", run.host);
  FLCE_TRY_DO(meta.status());
  JsonReader summary(part("summary"), "report.summary");
  summary.Read("exit_code", run.exit_code);
  FLCE_TRY_DO(summary.status());
  reader.ForEach("cells", [&](const Json& element, const std::string&) -> Status {
    FLCE_TRY(CellRecord cell, CellRecordFromJson(element));
    run.cells.push_back(std::move(cell));
    return Done{};
  });
  reader.ForEach("controls", [&](const Json& element, const std::string& path) -> Status {
    ControlRecord control;
    JsonReader one(element, path);
    one.Read("role", control.role);
    one.Read("case", control.case_name);
    one.ReadWord("outcome", control.outcome, ParseOutcome);
    one.Read("as_required", control.as_required);
    one.Read("explanation", control.text);
    run.controls.push_back(std::move(control));
    return one.status();
  });
  FLCE_TRY_DO(reader.status());
  return run;
}

}  // namespace flce
