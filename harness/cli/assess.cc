#include "harness/cli/assess.h"

#include "harness/base/subprocess.h"
#include "harness/base/text.h"
#include "harness/classify/classify.h"
#include "harness/cli/record.h"
#include "harness/model/json_reader.h"
#include "harness/verdict/judge.h"

namespace flce {

std::optional<NumericsRecord> Assessor::CompareTensors(const Cell& cell, const CellSupply& supply, const Observation& observation,
                                                       const fs::path& folder, std::vector<Finding>& findings) const {
  if (!observation.values_computed || observation.compiled.status != Phase::Status::kOk || observation.tensor_files.size() < 2) return std::nullopt;
  std::error_code ignored;
  if (!fs::exists(at_.binaries / "flce-numerics-torch", ignored)) {
    findings.push_back({"numerics_not_compared", "the values were not compared: scripts/build-numerics builds what compares them"});
    return std::nullopt;
  }
  const fs::path result_file = folder / "numerics.json";
  ProcessOptions options;
  options.argv = {at_.numerics.string(), "judge", "--cell",  folder.string(),           "--fix",  cell.fix,
                  "--liger",             supply.liger->version, "--claim", (at_.cases() / "tolerances.json").string(),
                  "--json",              result_file.string()};
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
  return std::move(record).value();
}

CellRecord Assessor::Assess(const Cell& cell, const CellSupply& supply, const Observation& observation, const fs::path& folder,
                            const std::string& name) const {
  std::vector<Finding> findings;
  const std::optional<NumericsRecord> numerics = CompareTensors(cell, supply, observation, folder, findings);
  CellContext context{&cell, supply.liger->Label(), supply.environment->lock_sha256, name, memory_budget_};
  const Result<CaseFacts> facts = data_.FactsOf(cell.case_name);
  if (!facts) return NotRun(cell, Outcome::kEnvironment, Reason::kNone, facts.error().message);
  const Readings readings = ReadFailures(data_.signatures, observation);
  Verdict verdict = Decide(*facts, observation, readings, numerics ? &*numerics : nullptr, memory_budget_);
  verdict.findings.insert(verdict.findings.end(), findings.begin(), findings.end());
  CellRecord record = MakeRecord(context, observation, verdict, numerics);
  AddStanding(record);
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
  AddStanding(record);
  return record;
}

void Assessor::AddStanding(CellRecord& record) const {
  Apply(Judge(record, data_.expectations), record);
}

}  // namespace flce
