#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/model/names.h"

namespace flce {

struct Frame {
  std::string file;  ///< relative to site-packages or to the Liger tree
  int line = 0;
  std::string function;
  std::string code{};  ///< the line of source, "" when it was not at hand
  bool operator==(const Frame&) const = default;
};

/// One exception of a chain.
struct ExceptionLink {
  std::string type;      ///< qualified: "torch._inductor.exc.InductorError"
  std::string message;   ///< whole text
  std::string relation;  ///< how it hangs on the link before it: raised, cause, context, inner
  std::vector<Frame> frames;
};

struct ExceptionRecord {
  std::vector<ExceptionLink> chain;  ///< outermost first; never empty
  std::string target;                ///< the operator overload a lowering error names: "aten.addmm.dtype"
  std::vector<Frame> user_frames;    ///< frames outside torch and triton, innermost last
};

/// A matrix product as it reached cuBLAS: C[m,n] (+)= A[m,k] B[k,n] in column-major terms, types as "bf16", "f16", "f32".
struct GemmCall {
  std::string api, transa, transb, a, b, c, compute;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  bool accumulates = false;  ///< beta != 0: adds into C
  bool operator==(const GemmCall&) const = default;
};

struct Launches {
  std::vector<GemmCall> gemms;  ///< in order, the first few thousand
  int64_t gemm_count = 0, kernel_count = 0;
  std::map<std::string, int64_t> kernels;  ///< launches by kernel name
};

struct OutOfMemory {
  uint64_t requested_bytes = 0, capacity_bytes = 0, allocated_bytes = 0;
  std::string message;
};

/// Which operators a captured graph holds, and from where; how much of the program was compiled at all.
struct GraphRecord {
  int captured = 0, compiled = 0, recompiles = 0, suppressed = 0;
  bool disabled = false;
  std::vector<std::pair<std::string, std::string>> breaks;  ///< reason, site
  std::map<std::string, int64_t> nodes_from;                 ///< nodes by the source file they come from
  std::map<std::string, int64_t> ops;
  /// Nodes that come from the call in question or from a branch that may be taken in its place; absent when nobody counted.
  std::optional<int64_t> branch_nodes;
};

/// One measured run: forward and backward.
struct Phase {
  enum class Status { kNotRun, kOk, kRaised };
  Status status = Status::kNotRun;
  double seconds = 0, first_call_seconds = 0;
  std::optional<uint64_t> peak_bytes;  ///< above what the inputs hold
  std::optional<ExceptionRecord> exception;
  std::optional<Launches> launches;
  std::optional<OutOfMemory> out_of_memory;
  GraphRecord graphs;  ///< of the compiled phase
};

/// A call of the operator in question, seen while eager ran.
struct ProbeCall {
  std::string op;  ///< "aten.addmm.dtype_out"
  Frame site;
  int64_t count = 0;
  std::string operand_dtype, accumulator_dtype;
};

/// A piece of code that a fix changes: a function, or a module's code outside of functions ("<module>").
struct FixChange {
  std::string file, name;
  std::optional<bool> ran;  ///< entered, or read by Dynamo; nullopt: cannot be seen
};

/// What became of a fix that puts files in the place of others.
struct FixEffect {
  bool watched = false;  ///< every run was watched for the changes until one ran; otherwise nothing follows from `ran`
  std::vector<FixChange> changes;
};

struct MemoryBlock {
  uint64_t bytes = 0;
  std::vector<Frame> frames;
};

/// How a worker's process ended.
struct ProcessEnd {
  enum class Kind { kExited, kSignaled, kTimedOut, kNotStarted };
  Kind kind = Kind::kExited;
  int code = 0;  ///< exit code or signal
  double seconds = 0;
  uint64_t max_rss_bytes = 0;
  std::string stderr_tail;
  std::string detail;  ///< why it could not start
};

/// All that is known of one cell after its worker ended: the worker's observation.json (format 1), joined with how the
/// process ended. When the worker died before writing, `complete` is false and only stages and the end are known.
struct Observation {
  bool complete = false;
  std::string cell_id, case_name;

  std::string python, torch, torch_git, cuda, triton, liger;
  std::string device_name, capability;
  DeviceKind device_kind = DeviceKind::kEmulated;
  std::vector<std::string> arch_list;

  std::vector<std::string> overloads;  ///< of the operator in question, in this torch
  bool call_present = false;           ///< the Liger source holds the call
  std::optional<Frame> call_site;

  std::vector<Stage> stages;   ///< begun, in order
  std::optional<Stage> stage;  ///< where it stopped
  std::optional<ExceptionRecord> exception;  ///< of import, device or building the case: before any phase

  std::optional<FixEffect> fix;

  bool probe_ran = false;
  std::vector<ProbeCall> probe_calls;
  std::optional<ExceptionRecord> probe_exception;

  Phase eager, compiled;
  uint64_t inputs_bytes = 0;
  std::vector<MemoryBlock> top_blocks;
  std::map<std::string, double> timings_ms;
  std::vector<std::pair<std::string, int64_t>> refused;  ///< emulator entry points that were asked for and are not emulated
  bool values_computed = false;
  std::optional<bool> poisoned;  ///< free device memory held NaNs before each measured run; nullopt: not asked for
  std::map<std::string, std::string> tensor_files;  ///< "eager", "compiled" -> file in the cell's folder
  std::string error;    ///< why the worker itself could not do its work (complete is false), "" otherwise
  std::string skipped;  ///< the case's own word on why it cannot run here
  std::map<std::string, std::string> environment;   ///< variables that change what is compiled

  ProcessEnd end;
};

/// Reads format 1. Unknown members are ignored, absent ones keep their defaults; a member of the wrong type is kData
/// naming it.
Result<Observation> ObservationFromJson(const nlohmann::ordered_json& json);
nlohmann::ordered_json ToJson(const Observation& observation);

/// The parts, shared with the report. `path` names the value in errors.
Result<ExceptionRecord> ExceptionRecordFromJson(const nlohmann::ordered_json& json);
Result<Frame> FrameFromJson(const nlohmann::ordered_json& json, const std::string& path);
Result<GemmCall> GemmCallFromJson(const nlohmann::ordered_json& json, const std::string& path);
Result<MemoryBlock> MemoryBlockFromJson(const nlohmann::ordered_json& json, const std::string& path);
nlohmann::ordered_json ToJson(const ExceptionRecord& exception);
nlohmann::ordered_json ToJson(const Frame& frame);
nlohmann::ordered_json ToJson(const GemmCall& gemm);
nlohmann::ordered_json ToJson(const MemoryBlock& block);

}  // namespace flce
