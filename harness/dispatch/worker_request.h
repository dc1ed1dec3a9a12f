#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/cell.h"

namespace flce {

/// Import that module from that file instead of from its package.
struct ImportHook {
  std::string module;
  fs::path file;
};

/// What a fix does inside the worker. Overlay folders stand in front of WorkerRequest::sys_path.
struct FixRequest {
  std::string name = "none";
  std::vector<ImportHook> hooks;
  std::string python;  ///< a module to import first, or ""
};

/// How often the measured step is repeated, beyond the run that decides.
struct TimingRequest {
  int warmups = 3, runs = 8;
};

/// One cell as flce-worker is asked for it (format 1).
struct WorkerRequest {
  std::string cell_id;
  fs::path output_dir;               ///< exists; observation.json appears here last
  fs::path python;                   ///< of the environment
  std::vector<fs::path> sys_path;    ///< put in front, in this order
  size_t own_entries = 0;            ///< the first so many of sys_path are this cell's alone (Liger, a fix's copy of it, the case's packages)
  std::string case_document;         ///< the case file's text
  std::optional<Shape> shape;        ///< nullopt: the case's own
  int64_t seed = kDefaultSeed;
  FixRequest fix;
  DeviceSpec device;
  std::string profile_document;  ///< the device's entry of cases/devices.json as JSON; "" for a real GPU
  bool tensors = true, memory_blocks = true;
  bool poison = false;  ///< fill free device memory with NaNs before each measured run (a real GPU only)
  std::optional<TimingRequest> timing;
  double deadline_s = 300;
};

/// kData if a document within is no JSON object.
Result<nlohmann::ordered_json> ToJson(const WorkerRequest& request);

/// The FLCE_EMU_PROFILE text of a device: "key=value" pairs joined by ';'. "" when there is no profile.
Result<std::string> EmulatorProfileText(const std::string& profile_document, int count);

}  // namespace flce
