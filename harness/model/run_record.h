#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/model/cell.h"
#include "harness/model/observation.h"
#include "harness/model/verdict.h"

namespace flce {

/// History of the report's schema: 1.0 first release; 1.1 controls, eager launches, seeds, poisoned memory; 1.2 every tensor that
/// a run returns in `numerics`. Additions raise the minor number; readers take any 1.x.
constexpr const char* kSchemaVersion = "1.2";

/// One tensor of a run compared with the same tensor of another (eager, or the fp64 reference).
struct TensorComparison {
  bool bitwise = false;
  uint64_t elements = 0, mismatches = 0;
  double max_abs = 0;
  std::optional<double> max_ulp;       ///< in units of the tensor's own dtype
  std::optional<double> bound;         ///< largest difference that rounding can explain, at the worst element
  std::optional<bool> within_bound;    ///< element by element
  std::vector<std::pair<std::string, uint64_t>> ulp_histogram;  ///< bucket ("0", "1", "2-3", ...) -> elements
  std::string first_mismatch;          ///< index of the first: "[3, 17]"
};

struct NumericsRecord {
  bool computed = false;                             ///< false on the emulated device: values are meaningless there
  std::map<std::string, TensorComparison> tensors;   ///< "loss" or "result", "grad_TENSOR", "grad_MODULE.PARAMETER"
  std::vector<std::string> violations;               ///< claims that do not hold
};

struct MemoryRecord {
  std::optional<uint64_t> eager_peak_bytes, compiled_peak_bytes;  ///< above what the inputs hold
  std::optional<double> budget_ratio;                             ///< compiled peak allowed, times the eager one
  std::vector<MemoryBlock> top_blocks;
};

/// One cell as the report shows it.
struct CellRecord {
  std::string id, case_name, fix;
  std::string torch, torch_git, triton, cuda, python;
  std::string liger, call_site;  ///< call site as "FILE:LINE", "" when there is none
  DeviceKind device_kind = DeviceKind::kEmulated;
  std::string device_name, capability;
  std::optional<Shape> shape;
  std::optional<int64_t> seed;   ///< nullopt: kDefaultSeed
  std::optional<bool> poisoned;  ///< free device memory held NaNs before each measured run; nullopt: not asked for
  Verdict verdict;
  std::optional<Standing> standing;
  std::string expectation;  ///< the rule that was matched, in words
  std::optional<ExceptionRecord> exception;
  std::optional<NumericsRecord> numerics;
  MemoryRecord memory;
  std::optional<Launches> launches;  ///< of the compiled run if it ended, else of the eager one
  std::optional<Launches> eager_launches;
  std::map<std::string, double> timings_ms;
  std::string lock_sha256;
  std::string origin = "ran";  ///< "ran", or "reused" with --resume
  double seconds = 0;
  std::string folder;          ///< where the cell's evidence lies, relative to the run's folder
};

/// What a control showed: a cell that the program adds to a run to see whether it can tell at all.
struct ControlRecord {
  std::string role;  ///< "clean", "failing", "crashed", "timed_out": how it must come out
  std::string case_name;
  Outcome outcome = Outcome::kNotReproduced;
  bool as_required = false;
  std::string text;  ///< one line: expected and seen
};

struct RunRecord {
  std::string tool_version;
  std::string id, started, finished;
  std::vector<std::string> argv;
  std::map<std::string, std::string> host;  ///< os, kernel, cpu count, gpu: nothing that names a person or a machine
  std::vector<CellRecord> cells;
  std::vector<ControlRecord> controls;  ///< no cells of the run; empty when it had none
  int exit_code = 0;
};

nlohmann::ordered_json ToJson(const CellRecord& cell);
nlohmann::ordered_json ToJson(const RunRecord& run);
/// Any 1.x; "too new" and "too old" otherwise (kData).
Result<RunRecord> RunRecordFromJson(const nlohmann::ordered_json& json);
Result<CellRecord> CellRecordFromJson(const nlohmann::ordered_json& json);
/// The report's `numerics` member, which is also what flce-numerics answers. `path` names the value in errors.
Result<NumericsRecord> NumericsRecordFromJson(const nlohmann::ordered_json& json, const std::string& path);

}  // namespace flce
