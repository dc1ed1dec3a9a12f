#include "harness/model/observation.h"

#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kFormat = 1;

Status ReadFrames(JsonReader& reader, const char* key, std::vector<Frame>& frames) {
  reader.ForEach(key, [&](const Json& element, const std::string& path) -> Status {
    FLCE_TRY(Frame frame, FrameFromJson(element, path));
    frames.push_back(std::move(frame));
    return Done{};
  });
  return reader.status();
}

Result<Launches> ReadLaunches(const Json& json, const std::string& path) {
  Launches launches;
  JsonReader reader(json, path);
  reader.ForEach("gemms", [&](const Json& element, const std::string& where) -> Status {
    FLCE_TRY(GemmCall gemm, GemmCallFromJson(element, where));
    launches.gemms.push_back(std::move(gemm));
    return Done{};
  });
  reader.Read("gemm_count", launches.gemm_count);
  reader.Read("kernel_count", launches.kernel_count);
  reader.Read("kernels", launches.kernels);
  FLCE_TRY_DO(reader.status());
  return launches;
}

Result<Phase> ReadPhase(const Json& json, const std::string& path) {
  Phase phase;
  JsonReader reader(json, path);
  std::string status = "not_run";
  reader.Read("status", status);
  if (status == "ok") {
    phase.status = Phase::Status::kOk;
  } else if (status == "raised") {
    phase.status = Phase::Status::kRaised;
  } else if (status != "not_run") {
    reader.Fail(path + ".status", "ok, raised or not_run, not '" + status + "'");
  }
  reader.Read("seconds", phase.seconds);
  reader.Read("first_call_seconds", phase.first_call_seconds);
  reader.Read("peak_bytes", phase.peak_bytes);
  FLCE_TRY_DO(reader.status());
  if (const Json* member = reader.Member("exception")) {
    FLCE_TRY(phase.exception, ExceptionRecordFromJson(*member));
  }
  if (const Json* member = reader.Member("launches")) {
    FLCE_TRY(phase.launches, ReadLaunches(*member, path + ".launches"));
  }
  if (const Json* member = reader.Member("out_of_memory")) {
    OutOfMemory oom;
    JsonReader item(*member, path + ".out_of_memory");
    item.Read("requested_bytes", oom.requested_bytes);
    item.Read("capacity_bytes", oom.capacity_bytes);
    item.Read("allocated_bytes", oom.allocated_bytes);
    item.Read("message", oom.message);
    FLCE_TRY_DO(item.status());
    phase.out_of_memory = std::move(oom);
  }
  if (const Json* member = reader.Member("graphs")) {
    JsonReader graphs(*member, path + ".graphs");
    graphs.Read("captured", phase.graphs.captured);
    graphs.Read("compiled", phase.graphs.compiled);
    graphs.Read("recompiles", phase.graphs.recompiles);
    graphs.Read("suppressed", phase.graphs.suppressed);
    graphs.Read("disabled", phase.graphs.disabled);
    graphs.Read("nodes_from", phase.graphs.nodes_from);
    graphs.Read("ops", phase.graphs.ops);
    graphs.Read("branch_nodes", phase.graphs.branch_nodes);
    graphs.ForEach("breaks", [&](const Json& element, const std::string& where) -> Status {
      std::string reason, site;
      JsonReader item(element, where);
      item.Read("reason", reason);
      item.Read("site", site);
      phase.graphs.breaks.emplace_back(reason, site);
      return item.status();
    });
    FLCE_TRY_DO(graphs.status());
  }
  return phase;
}

Json LaunchesJson(const Launches& launches) {
  Json gemms = Json::array();
  for (const GemmCall& gemm : launches.gemms) gemms.push_back(ToJson(gemm));
  return {{"gemms", std::move(gemms)},
          {"gemm_count", launches.gemm_count},
          {"kernels", launches.kernels},
          {"kernel_count", launches.kernel_count}};
}

Json PhaseJson(const Phase& phase) {
  constexpr const char* kStatus[] = {"not_run", "ok", "raised"};
  Json json = {{"status", kStatus[static_cast<int>(phase.status)]}, {"seconds", phase.seconds}};
  if (phase.first_call_seconds > 0) json["first_call_seconds"] = phase.first_call_seconds;
  if (phase.peak_bytes) json["peak_bytes"] = *phase.peak_bytes;
  if (phase.exception) json["exception"] = ToJson(*phase.exception);
  if (phase.launches) json["launches"] = LaunchesJson(*phase.launches);
  if (phase.out_of_memory) {
    const OutOfMemory& oom = *phase.out_of_memory;
    json["out_of_memory"] = {{"requested_bytes", oom.requested_bytes},
                             {"capacity_bytes", oom.capacity_bytes},
                             {"allocated_bytes", oom.allocated_bytes},
                             {"message", oom.message}};
  }
  const GraphRecord& graphs = phase.graphs;
  Json breaks = Json::array();
  for (const auto& [reason, site] : graphs.breaks) breaks.push_back({{"reason", reason}, {"site", site}});
  json["graphs"] = {{"captured", graphs.captured},   {"compiled", graphs.compiled},     {"breaks", std::move(breaks)},
                    {"nodes_from", graphs.nodes_from}, {"ops", graphs.ops},             {"suppressed", graphs.suppressed},
                    {"disabled", graphs.disabled},   {"recompiles", graphs.recompiles},
                    {"branch_nodes", graphs.branch_nodes ? Json(*graphs.branch_nodes) : Json(nullptr)}};
  return json;
}

Status ReadEnd(const Json& json, ProcessEnd& end) {
  JsonReader reader(json, "end");
  std::string kind = "exited";
  reader.Read("kind", kind);
  if (kind == "signaled") {
    end.kind = ProcessEnd::Kind::kSignaled;
  } else if (kind == "timed_out") {
    end.kind = ProcessEnd::Kind::kTimedOut;
  } else if (kind == "not_started") {
    end.kind = ProcessEnd::Kind::kNotStarted;
  } else if (kind != "exited") {
    reader.Fail("end.kind", "exited, signaled, timed_out or not_started, not '" + kind + "'");
  }
  reader.Read("code", end.code);
  reader.Read("seconds", end.seconds);
  reader.Read("max_rss_bytes", end.max_rss_bytes);
  reader.Read("stderr_tail", end.stderr_tail);
  reader.Read("detail", end.detail);
  return reader.status();
}

}  // namespace

Json ToJson(const Frame& frame) {
  Json json = {{"file", frame.file}, {"line", frame.line}, {"function", frame.function}};
  if (!frame.code.empty()) json["code"] = frame.code;
  return json;
}

Json ToJson(const GemmCall& gemm) {
  return {{"api", gemm.api}, {"transa", gemm.transa}, {"transb", gemm.transb}, {"m", gemm.m},         {"n", gemm.n},
          {"k", gemm.k},     {"batch", gemm.batch},   {"a", gemm.a},           {"b", gemm.b},         {"c", gemm.c},
          {"compute", gemm.compute},                  {"accumulates", gemm.accumulates}};
}

Json ToJson(const MemoryBlock& block) {
  Json frames = Json::array();
  for (const Frame& frame : block.frames) frames.push_back(ToJson(frame));
  return {{"bytes", block.bytes}, {"frames", std::move(frames)}};
}

Json ToJson(const ExceptionRecord& exception) {
  Json chain = Json::array();
  for (const ExceptionLink& link : exception.chain) {
    Json frames = Json::array();
    for (const Frame& frame : link.frames) frames.push_back(ToJson(frame));
    chain.push_back({{"type", link.type}, {"message", link.message}, {"relation", link.relation}, {"frames", std::move(frames)}});
  }
  Json user_frames = Json::array();
  for (const Frame& frame : exception.user_frames) user_frames.push_back(ToJson(frame));
  return {{"chain", std::move(chain)},
          {"target", exception.target.empty() ? Json(nullptr) : Json(exception.target)},
          {"user_frames", std::move(user_frames)}};
}

Result<Frame> FrameFromJson(const Json& json, const std::string& path) {
  Frame frame;
  JsonReader reader(json, path);
  reader.Read("file", frame.file);
  reader.Read("line", frame.line);
  reader.Read("function", frame.function);
  reader.Read("code", frame.code);
  FLCE_TRY_DO(reader.status());
  return frame;
}

Result<GemmCall> GemmCallFromJson(const Json& json, const std::string& path) {
  GemmCall gemm;
  JsonReader reader(json, path);
  reader.Read("api", gemm.api);
  reader.Read("transa", gemm.transa);
  reader.Read("transb", gemm.transb);
  reader.Read("m", gemm.m);
  reader.Read("n", gemm.n);
  reader.Read("k", gemm.k);
  reader.Read("batch", gemm.batch);
  reader.Read("a", gemm.a);
  reader.Read("b", gemm.b);
  reader.Read("c", gemm.c);
  reader.Read("compute", gemm.compute);
  reader.Read("accumulates", gemm.accumulates);
  FLCE_TRY_DO(reader.status());
  return gemm;
}

Result<MemoryBlock> MemoryBlockFromJson(const Json& json, const std::string& path) {
  MemoryBlock block;
  JsonReader reader(json, path);
  reader.Read("bytes", block.bytes);
  FLCE_TRY_DO(ReadFrames(reader, "frames", block.frames));
  return block;
}

Result<ExceptionRecord> ExceptionRecordFromJson(const Json& json) {
  ExceptionRecord exception;
  JsonReader reader(json, "exception");
  reader.Read("target", exception.target);
  reader.ForEach("chain", [&](const Json& element, const std::string& path) -> Status {
    ExceptionLink link;
    JsonReader item(element, path);
    item.Read("type", link.type);
    item.Read("message", link.message);
    item.Read("relation", link.relation);
    FLCE_TRY_DO(ReadFrames(item, "frames", link.frames));
    exception.chain.push_back(std::move(link));
    return item.status();
  });
  FLCE_TRY_DO(ReadFrames(reader, "user_frames", exception.user_frames));
  FLCE_TRY_DO(reader.status());
  if (exception.chain.empty()) return Error{ErrorKind::kData, "exception.chain: expected at least one exception"};
  return exception;
}

Result<Observation> ObservationFromJson(const Json& json) {
  Observation o;
  JsonReader reader(json, "observation");
  int format = kFormat;
  reader.Read("format", format);
  if (format != kFormat)
    return Error{ErrorKind::kData, "observation.format " + std::to_string(format) + (format > kFormat ? " is too new" : " is too old") +
                                       ": this program reads format " + std::to_string(kFormat)};
  reader.Read("complete", o.complete);
  reader.Read("cell_id", o.cell_id);
  reader.Read("case", o.case_name);
  reader.Read("inputs_bytes", o.inputs_bytes);
  reader.Read("timings_ms", o.timings_ms);
  reader.Read("skipped", o.skipped);
  reader.Read("poisoned", o.poisoned);
  reader.Read("error", o.error);
  reader.Read("environment", o.environment);
  reader.Read("tensors", o.tensor_files);
  std::string values;
  reader.Read("values", values);
  o.values_computed = values == "computed";
  if (const Json* member = reader.Member("stage")) {
    std::optional<Stage> stage = ParseStage(member->is_string() ? member->get<std::string>() : "");
    if (!stage) reader.Fail("observation.stage", "a known stage");
    o.stage = stage;
  }
  reader.ForEach("stages", [&](const Json& element, const std::string& path) -> Status {
    const std::optional<Stage> stage = ParseStage(element.is_string() ? element.get<std::string>() : "");
    if (!stage) return Error{ErrorKind::kData, path + ": expected a known stage"};
    o.stages.push_back(*stage);
    return Done{};
  });
  FLCE_TRY_DO(reader.status());

  if (const Json* member = reader.Member("exception")) {
    FLCE_TRY(o.exception, ExceptionRecordFromJson(*member));
  }
  if (const Json* member = reader.Member("versions")) {
    JsonReader versions(*member, "observation.versions");
    versions.Read("python", o.python);
    versions.Read("torch", o.torch);
    versions.Read("torch_git", o.torch_git);
    versions.Read("cuda", o.cuda);
    versions.Read("triton", o.triton);
    versions.Read("liger", o.liger);
    FLCE_TRY_DO(versions.status());
  }
  if (const Json* member = reader.Member("device")) {
    JsonReader device(*member, "observation.device");
    device.ReadWord("kind", o.device_kind, ParseDeviceKind);
    device.Read("name", o.device_name);
    device.Read("capability", o.capability);
    device.Read("arch_list", o.arch_list);
    FLCE_TRY_DO(device.status());
  }
  if (const Json* member = reader.Member("affected")) {
    JsonReader affected(*member, "observation.affected");
    affected.Read("overloads", o.overloads);
    affected.Read("call_present", o.call_present);
    FLCE_TRY_DO(affected.status());
    if (const Json* site = affected.Member("call_site")) {
      FLCE_TRY(o.call_site, FrameFromJson(*site, "observation.affected.call_site"));
    }
  }
  if (const Json* member = reader.Member("fix")) {
    FixEffect fix;
    JsonReader effect(*member, "observation.fix");
    effect.Read("watched", fix.watched);
    effect.ForEach("changes", [&](const Json& element, const std::string& path) -> Status {
      FixChange change;
      JsonReader item(element, path);
      item.Read("file", change.file);
      item.Read("name", change.name);
      item.Read("ran", change.ran);
      fix.changes.push_back(std::move(change));
      return item.status();
    });
    FLCE_TRY_DO(effect.status());
    o.fix = std::move(fix);
  }
  if (const Json* member = reader.Member("probe")) {
    JsonReader probe(*member, "observation.probe");
    probe.Read("ran", o.probe_ran);
    probe.ForEach("calls", [&](const Json& element, const std::string& path) -> Status {
      ProbeCall call;
      FLCE_TRY(call.site, FrameFromJson(element, path));
      JsonReader item(element, path);
      item.Read("op", call.op);
      item.Read("count", call.count);
      item.Read("operand_dtype", call.operand_dtype);
      item.Read("accumulator_dtype", call.accumulator_dtype);
      o.probe_calls.push_back(std::move(call));
      return item.status();
    });
    FLCE_TRY_DO(probe.status());
    if (const Json* exception = probe.Member("exception")) {
      FLCE_TRY(o.probe_exception, ExceptionRecordFromJson(*exception));
    }
  }
  if (const Json* member = reader.Member("eager")) {
    FLCE_TRY(o.eager, ReadPhase(*member, "observation.eager"));
  }
  if (const Json* member = reader.Member("compiled")) {
    FLCE_TRY(o.compiled, ReadPhase(*member, "observation.compiled"));
  }
  if (const Json* member = reader.Member("memory")) {
    JsonReader memory(*member, "observation.memory");
    memory.Read("inputs_bytes", o.inputs_bytes);
    memory.ForEach("top_blocks", [&](const Json& element, const std::string& path) -> Status {
      FLCE_TRY(MemoryBlock block, MemoryBlockFromJson(element, path));
      o.top_blocks.push_back(std::move(block));
      return Done{};
    });
    FLCE_TRY_DO(memory.status());
  }
  if (const Json* member = reader.Member("emulator")) {
    JsonReader emulator(*member, "observation.emulator");
    emulator.ForEach("refused", [&](const Json& element, const std::string& path) -> Status {
      std::string api;
      int64_t count = 0;
      JsonReader item(element, path);
      item.Read("api", api);
      item.Read("count", count);
      o.refused.emplace_back(api, count);
      return item.status();
    });
    FLCE_TRY_DO(emulator.status());
  }
  if (const Json* member = reader.Member("end")) FLCE_TRY_DO(ReadEnd(*member, o.end));
  return o;
}

Json ToJson(const Observation& o) {
  Json fix = nullptr;
  if (o.fix) {
    Json changes = Json::array();
    for (const FixChange& change : o.fix->changes)
      changes.push_back({{"file", change.file}, {"name", change.name}, {"ran", change.ran ? Json(*change.ran) : Json(nullptr)}});
    fix = {{"watched", o.fix->watched}, {"changes", std::move(changes)}};
  }
  Json stages = Json::array();
  for (Stage stage : o.stages) stages.push_back(Text(stage));
  Json calls = Json::array();
  for (const ProbeCall& call : o.probe_calls) {
    Json item = ToJson(call.site);
    item["op"] = call.op;
    item["count"] = call.count;
    item["operand_dtype"] = call.operand_dtype;
    item["accumulator_dtype"] = call.accumulator_dtype;
    calls.push_back(std::move(item));
  }
  Json blocks = Json::array();
  for (const MemoryBlock& block : o.top_blocks) blocks.push_back(ToJson(block));
  Json refused = Json::array();
  for (const auto& [api, count] : o.refused) refused.push_back({{"api", api}, {"count", count}});
  constexpr const char* kEnds[] = {"exited", "signaled", "timed_out", "not_started"};
  return {
      {"format", kFormat},
      {"cell_id", o.cell_id},
      {"case", o.case_name},
      {"complete", o.complete},
      {"versions",
       {{"python", o.python}, {"torch", o.torch}, {"torch_git", o.torch_git}, {"cuda", o.cuda}, {"triton", o.triton}, {"liger", o.liger}}},
      {"device",
       {{"kind", Text(o.device_kind)}, {"name", o.device_name}, {"capability", o.capability}, {"arch_list", o.arch_list}}},
      {"affected",
       {{"overloads", o.overloads},
        {"call_present", o.call_present},
        {"call_site", o.call_site ? ToJson(*o.call_site) : Json(nullptr)}}},
      {"stages", std::move(stages)},
      {"stage", o.stage ? Json(Text(*o.stage)) : Json(nullptr)},
      {"exception", o.exception ? ToJson(*o.exception) : Json(nullptr)},
      {"fix", std::move(fix)},
      {"probe",
       {{"ran", o.probe_ran},
        {"calls", std::move(calls)},
        {"exception", o.probe_exception ? ToJson(*o.probe_exception) : Json(nullptr)}}},
      {"eager", PhaseJson(o.eager)},
      {"compiled", PhaseJson(o.compiled)},
      {"memory", {{"inputs_bytes", o.inputs_bytes}, {"top_blocks", std::move(blocks)}}},
      {"timings_ms", o.timings_ms},
      {"emulator", {{"refused", std::move(refused)}}},
      {"values", o.values_computed ? "computed" : "not_computed"},
      {"poisoned", o.poisoned ? Json(*o.poisoned) : Json(nullptr)},
      {"tensors", o.tensor_files},
      {"error", o.error},
      {"skipped", o.skipped},
      {"environment", o.environment},
      {"end",
       {{"kind", kEnds[static_cast<int>(o.end.kind)]},
        {"code", o.end.code},
        {"seconds", o.end.seconds},
        {"max_rss_bytes", o.end.max_rss_bytes},
        {"stderr_tail", o.end.stderr_tail},
        {"detail", o.end.detail}}},
  };
}

}  // namespace flce
