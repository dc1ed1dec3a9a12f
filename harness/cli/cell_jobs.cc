#include "harness/cli/cell_jobs.h"

#include <algorithm>

#include "harness/base/sha256.h"
#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

/// One digest for every file below a folder with one of the endings, by name and content.
Result<std::string> HashFolder(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == extension) files.push_back(it->path());
  if (code) return Error{ErrorKind::kEnvironment, "cannot read " + folder.string() + ": " + code.message()};
  std::sort(files.begin(), files.end());
  std::string listing;
  for (const fs::path& file : files) {
    FLCE_TRY(const std::string digest, Sha256OfFile(file));
    listing += file.lexically_relative(folder).string() + " " + digest + "\n";
  }
  return Sha256Hex(listing);
}

}  // namespace

Result<CellJob> MakeJob(const Locations& at, const RunData& data, const RunOptions& options, const Cell& cell, const CellSupply& supply,
                        const fs::path& folder) {
  FLCE_TRY(const CaseFile* file, data.cases.Find(cell.case_name));
  const bool emulated = cell.device.kind == DeviceKind::kEmulated;
  CellJob job;
  job.worker = at.worker;
  if (!supply.environment->root.empty()) job.kept = supply.environment->root;
  job.sleeps = file->HasTag("sleeps");
  WorkerRequest& request = job.request;
  request.cell_id = cell.Id();
  request.output_dir = folder;
  request.python = supply.environment->python;
  if (!supply.overlay->sys_path.empty()) request.sys_path.push_back(supply.overlay->sys_path);
  request.sys_path.push_back(supply.liger->root);
  if (supply.packages != nullptr && !supply.packages->root.empty()) request.sys_path.push_back(supply.packages->root);
  request.own_entries = request.sys_path.size();
  request.sys_path.insert(request.sys_path.end(), {at.root / "harness" / "worker" / "python", at.cases()});
  request.case_document = file->document;
  request.shape = cell.shape;
  request.seed = cell.seed.value_or(kDefaultSeed);
  request.fix.name = supply.overlay->name;
  for (const FixOverlay::Hook& hook : supply.overlay->hooks) request.fix.hooks.push_back({hook.module, hook.file});
  request.fix.python = supply.overlay->python_module;
  request.device = cell.device;
  request.deadline_s = file->deadline_s > 0 ? std::min(file->deadline_s, options.timeout_s) : options.timeout_s;
  if (emulated) {
    FLCE_TRY(const DeviceProfile* profile, data.devices.ProfileOf(cell.device));
    request.profile_document = profile->document;
    if (!options.trace.empty()) {
      FLCE_TRY(Json traced, ParseJson(profile->document, profile->id));
      traced["trace"] = 1;
      request.profile_document = traced.dump();
    }
    job.emulator = at.emulator;
    FLCE_TRY(job.memory_limit_bytes, ParseBytes(options.max_memory));
    if (!supply.environment->library_dirs.empty()) job.stubs = supply.environment->library_dirs.front();
  } else {
    request.timing = TimingRequest{};
    request.poison = true;
  }
  return job;
}

Result<std::map<std::string, std::string>> HashTools(const Locations& at, DeviceKind kind) {
  std::map<std::string, std::string> tools;
  std::vector<std::pair<std::string, fs::path>> files = {{"worker", at.worker}};
  if (kind == DeviceKind::kEmulated) files.emplace_back("emulator", at.emulator);
  for (const auto& [name, file] : files) {
    Result<std::string> digest = Sha256OfFile(file);
    if (!digest) return Error{ErrorKind::kEnvironment, "the " + name + " is not built (" + file.string() + "): scripts/flce-repro builds it"};
    tools[name] = std::move(digest).value();
  }
  FLCE_TRY(tools["worker modules"], HashFolder(at.root / "harness" / "worker" / "python", ".py"));
  return tools;
}

Result<CellKey> MakeKey(const RunData& data, const Cell& cell, const CellSupply& supply, const std::map<std::string, std::string>& tools,
                        const RunOptions& options) {
  FLCE_TRY(const CaseFile* file, data.cases.Find(cell.case_name));
  CellKey key{cell.Id(), tools};
  std::string sources;
  for (const fs::path& source : file->sources) {
    FLCE_TRY(const std::string digest, Sha256OfFile(source));
    sources += source.filename().string() + " " + digest + "\n";
  }
  key.inputs["case"] = Sha256Hex(sources);
  key.inputs["signatures"] = data.signatures_sha256;
  key.inputs["fix"] = supply.overlay->sha256;
  key.inputs["environment"] = supply.environment->lock_sha256.empty() ? supply.environment->torch_build : supply.environment->lock_sha256;
  key.inputs["liger"] = supply.liger->sha256;
  if (supply.packages != nullptr) key.inputs["packages"] = supply.packages->lock_sha256;
  key.inputs["timeout"] = std::to_string(options.timeout_s);
  if (cell.device.kind == DeviceKind::kEmulated) {
    FLCE_TRY(const DeviceProfile* profile, data.devices.ProfileOf(cell.device));
    key.inputs["device"] = Sha256Hex(profile->document);
  }
  return key;
}

}  // namespace flce
