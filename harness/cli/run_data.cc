#include "harness/cli/run_data.h"

#include "harness/base/sha256.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

Result<double> ReadMemoryBudget(const fs::path& file) {
  FLCE_TRY(const std::string text, ReadFile(file));
  FLCE_TRY(const Json json, ParseJson(text, file.string()));
  double ratio = 0;
  JsonReader root(json, file.filename().string());
  if (const Json* memory = root.Member("memory")) {
    JsonReader reader(*memory, file.filename().string() + ".memory");
    reader.Read("max_ratio", ratio);
    FLCE_TRY_DO(reader.status());
  }
  if (!(ratio > 0)) return Error{ErrorKind::kData, file.string() + ": memory.max_ratio: expected a positive number"};
  return ratio;
}

}  // namespace

Result<RunData> RunData::Load(const Locations& at) {
  const fs::path cases = at.cases();
  FLCE_TRY(CaseCatalogue catalogue, CaseCatalogue::Load(cases));
  FLCE_TRY(DeviceCatalogue devices, DeviceCatalogue::Load(cases / "devices.json"));
  FLCE_TRY(SignatureBook signatures, SignatureBook::Load(cases / "signatures.json"));
  FLCE_TRY(Expectations expectations, Expectations::Load(cases / "expectations.json"));
  FLCE_TRY(const double budget, ReadMemoryBudget(cases / "tolerances.json"));
  FLCE_TRY(std::string signatures_hash, Sha256OfFile(cases / "signatures.json"));
  return RunData{std::move(catalogue), std::move(devices), std::move(signatures), std::move(expectations), budget, std::move(signatures_hash)};
}

Result<CaseFacts> RunData::FactsOf(const std::string& case_name) const {
  FLCE_TRY(const CaseFile* file, cases.Find(case_name));
  FLCE_TRY(const Json json, ParseJson(file->document, file->file.string()));
  CaseFacts facts;
  facts.name = case_name;
  JsonReader reader(json, file->file.filename().string());
  reader.Read("reproduces", facts.reproduces);
  FLCE_TRY_DO(reader.status());
  if (const Json* call = reader.Member("call")) {
    JsonReader item(*call, file->file.filename().string() + ".call");
    item.Read("op", facts.call.op);
    item.Read("overloads", facts.call.overloads);
    item.Read("module", facts.call.module);
    item.Read("operands", facts.call.operands);
    item.Read("accumulator", facts.call.accumulator);
    FLCE_TRY_DO(item.status());
  }
  return facts;
}

}  // namespace flce
