#include "harness/cli/assess.h"

#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/classify/classify.h"
#include "harness/cli/record.h"
#include "harness/model/json_reader.h"
#include "harness/verdict/judge.h"

namespace flce {

namespace {

// A cell of a large shape leaves gigabytes, a run of many of them more than a disk.
constexpr uintmax_t kLargestKept = uintmax_t{64} << 20;

/// Tensors that hold what they claim say nothing more than their judgement does.
void DropLargeTensors(const Observation& observation, const fs::path& folder) {
  for (const auto& [phase, file] : observation.tensor_files) {
    std::error_code code;
    if (const uintmax_t size = fs::file_size(folder / file, code); !code && size > kLargestKept) fs::remove(folder / file, code);
  }
}

}  // namespace

Result<std::string> JudgingDevice(DeviceKind kind, const Shape& shape, const std::string& devices) {
  if (kind == DeviceKind::kCuda && devices.find("cuda") != std::string::npos) return std::string("cuda");
  // In floating point, where no shape overflows.
  const double work = static_cast<double>(shape.bt) * static_cast<double>(shape.h) * static_cast<double>(shape.v);
  if (work <= static_cast<double>(kLargestOnCpu)) return std::string("cpu");
  return Error{ErrorKind::kEnvironment, Text(shape) + " is too large for an fp64 reference on the CPU, and flce-numerics was built without CUDA: " +
                                            "scripts/build-numerics --python INTERPRETER --cuda builds it with an installed torch"};
}

const std::string& Assessor::Devices() const {
  if (!devices_) {
    ProcessOptions options;
    options.argv = {at_.numerics.string(), "devices"};
    options.deadline_s = 120;
    const Result<ProcessResult> ran = RunProcess(std::move(options));
    devices_ = ran && ran->ok() ? ran->out : "";
  }
  return *devices_;
}

std::optional<NumericsRecord> Assessor::CompareTensors(const Cell& cell, const CellSupply& supply, const Observation& observation,
                                                       const fs::path& folder, std::vector<Finding>& findings) const {
  if (!observation.values_computed || observation.compiled.status != Phase::Status::kOk || observation.tensor_files.size() < 2) return std::nullopt;
  std::error_code ignored;
  if (!fs::exists(at_.binaries / "flce-numerics-torch", ignored)) {
    findings.push_back({"numerics_not_compared", "the values were not compared: scripts/build-numerics builds what compares them"});
    return std::nullopt;
  }
  const Result<const CaseFile*> file = data_.cases.Find(cell.case_name);
  // A control computes no FLCE: there is no claim to hold it to.
  if (!file || (*file)->kind == "control") return std::nullopt;
  const Result<std::string> device = JudgingDevice(cell.device.kind, cell.shape.value_or((*file)->shape), Devices());
  if (!device) {
    findings.push_back({"numerics_not_compared", "the values were not compared: " + device.error().message});
    return std::nullopt;
  }
  const fs::path result_file = folder / "numerics.json";
  ProcessOptions options;
  options.argv = {at_.numerics.string(), "judge", "--cell",  folder.string(),           "--fix",  cell.fix,
                  "--liger",             supply.liger->version, "--claim", (at_.cases() / "tolerances.json").string(),
                  "--device",            *device,           "--json", result_file.string()};
  options.deadline_s = 600;
  const Result<ProcessResult> ran = RunProcess(std::move(options));
  const Result<std::string> text = ReadFile(result_file);
  if (!ran || !text) {
    findings.push_back({"numerics_not_compared", ran ? "flce-numerics gave no result: " + FirstLine(ran->err) : ran.error().message});
    return std::nullopt;
  }
  Result<Json> json = ParseJson(*text, result_file.string());
  if (!json) {
    findings.push_back({"numerics_not_compared", json.error().message});
    return std::nullopt;
  }
  Result<NumericsRecord> record = NumericsRecordFromJson(json->contains("numerics") ? (*json)["numerics"] : *json, "numerics");
  if (!record) {
    findings.push_back({"numerics_not_compared", record.error().message});
    return std::nullopt;
  }
  if (record->violations.empty()) DropLargeTensors(observation, folder);
  return std::move(record).value();
}

CellRecord Assessor::Assess(const Cell& cell, const CellSupply& supply, const Observation& observation, const fs::path& folder,
                            const std::string& name) const {
  std::vector<Finding> findings;
  const std::optional<NumericsRecord> numerics = CompareTensors(cell, supply, observation, folder, findings);
  if (observation.poisoned == false)
    findings.push_back({"not_poisoned", "free memory could not be filled before every run: reading what nobody wrote may not show"});
  CellContext context{&cell, supply.liger->Label(), supply.environment->lock_sha256, name, memory_budget_};
  const Result<CaseFacts> facts = data_.FactsOf(cell.case_name);
  if (!facts) return NotRun(cell, Outcome::kEnvironment, Reason::kNone, facts.error().message);
  const Readings readings = ReadFailures(data_.signatures, observation);
  Verdict verdict = Decide(*facts, observation, readings, numerics ? &*numerics : nullptr, memory_budget_);
  verdict.findings.insert(verdict.findings.end(), findings.begin(), findings.end());
  CellRecord record = MakeRecord(context, observation, verdict, numerics);
  Judge(record);
  return record;
}

CellRecord Assessor::NotRun(const Cell& cell, Outcome outcome, Reason reason, const std::string& why) const {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.reason = reason;
  verdict.explanation = why;
  verdict.evidence = cell.device.kind == DeviceKind::kCuda ? Evidence::kExecuted : Evidence::kEmulated;
  CellContext context{&cell, cell.liger, "", "", memory_budget_};
  CellRecord record = MakeRecord(context, Observation{}, verdict, std::nullopt);
  Judge(record);
  return record;
}

void Assessor::Judge(CellRecord& record) const {
  Apply(flce::Judge(record, data_.expectations), record);
}

}  // namespace flce
