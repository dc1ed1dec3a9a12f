#include "harness/emulator/log_json.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce::emulator {
namespace {

using Json = nlohmann::ordered_json;

std::string Demangle(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

Json ToJson(const GemmRecord& gemm) {
  Json json = {{"api", gemm.api},
               {"transa", std::string(1, gemm.transa)},
               {"transb", std::string(1, gemm.transb)},
               {"m", gemm.m},
               {"n", gemm.n},
               {"k", gemm.k},
               {"batch", gemm.batch},
               {"a", gemm.a},
               {"b", gemm.b},
               {"c", gemm.c},
               {"d", gemm.d},
               {"compute", gemm.compute},
               {"accumulates", gemm.accumulates}};
  if (gemm.epilogue[0] != '\0') json["epilogue"] = gemm.epilogue;
  return json;
}

Json ToJson(const OutOfMemory& memory, std::uint64_t count) {
  return {{"requested_bytes", memory.requested_bytes},
          {"capacity_bytes", memory.capacity_bytes},
          {"allocated_bytes", memory.allocated_bytes},
          {"device", memory.device},
          {"count", count},
          {"message", "out of memory: asked for " + HumanBytes(memory.requested_bytes) + " with " +
                          HumanBytes(memory.allocated_bytes) + " of " + HumanBytes(memory.capacity_bytes) +
                          " in use"}};
}

const char* KindName(TraceEvent::Kind kind) {
  switch (kind) {
    case TraceEvent::Kind::kKernel:
      return "kernel";
    case TraceEvent::Kind::kGemm:
      return "gemm";
    case TraceEvent::Kind::kCopy:
      return "copy";
    case TraceEvent::Kind::kFill:
      return "fill";
    case TraceEvent::Kind::kAllocate:
      return "allocate";
    case TraceEvent::Kind::kFree:
      return "free";
    case TraceEvent::Kind::kGraph:
      return "graph";
    case TraceEvent::Kind::kSynchronize:
      return "synchronize";
  }
  return "";
}

Json Sequence(const LaunchLog& log) {
  Json sequence = Json::array();
  for (const TraceEvent& event : log.events()) {
    Json json = {{"t_us", static_cast<double>(event.begin_ns) / 1000.0},
                 {"kind", KindName(event.kind)},
                 {"name", Demangle(log.event_name(event))},
                 {"stream", event.stream},
                 {"device", event.device}};
    if (event.bytes != 0) json["bytes"] = event.bytes;
    sequence.push_back(std::move(json));
  }
  return sequence;
}

}  // namespace

std::string LogToJson(const Emulator& emulator) {
  const LaunchLog& log = emulator.log;
  int busiest = 0;
  for (int device = 1; device < emulator.memory.devices(); ++device) {
    if (emulator.memory.peak(device) > emulator.memory.peak(busiest)) busiest = device;
  }
  Json json = {{"peak_bytes", emulator.memory.peak(busiest)},
               {"used_bytes", emulator.memory.used(busiest)},
               {"capacity_bytes", emulator.memory.capacity()}};
  json["gemms"] = Json::array();
  for (const GemmRecord& gemm : log.gemms()) json["gemms"].push_back(ToJson(gemm));
  json["gemm_count"] = log.gemm_count();
  std::map<std::string, std::uint64_t> kernels;
  for (const LaunchLog::KernelCount& kernel : log.kernels()) {
    if (kernel.count != 0) kernels[Demangle(kernel.name)] += kernel.count;
  }
  json["kernels"] = Json::object();
  for (const auto& [name, count] : kernels) json["kernels"][name] = count;
  json["kernel_count"] = log.kernel_count();
  json["copies"] = log.copies();
  json["refused"] = Json::array();
  for (const auto& [api, refusal] : log.refused()) {
    json["refused"].push_back({{"api", api}, {"count", refusal.count}, {"detail", refusal.detail}});
  }
  json["unknown_entry_points"] = log.unknown_entry_points();
  json["out_of_memory"] = emulator.memory.out_of_memory()
                              ? ToJson(*emulator.memory.out_of_memory(), emulator.memory.out_of_memory_count())
                              : Json();
  if (log.tracing()) {
    json["sequence"] = Sequence(log);
    json["sequence_dropped"] = log.dropped_events();
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flce::emulator
