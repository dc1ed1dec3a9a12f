#include "harness/cli/record.h"

namespace flce {

const ExceptionRecord* FailureOf(const Observation& observation, Outcome outcome) {
  const bool eager_first = outcome == Outcome::kEagerFailed || outcome == Outcome::kEnvironment;
  const std::optional<ExceptionRecord>& first = eager_first ? observation.eager.exception : observation.compiled.exception;
  const std::optional<ExceptionRecord>& second = eager_first ? observation.compiled.exception : observation.eager.exception;
  for (const std::optional<ExceptionRecord>* exception : {&observation.exception, &first, &second, &observation.probe_exception})
    if (exception->has_value()) return &**exception;
  return nullptr;
}

CellRecord MakeRecord(const CellContext& context, const Observation& observation, const Verdict& verdict,
                      const std::optional<NumericsRecord>& numerics) {
  const Cell& cell = *context.cell;
  CellRecord record;
  record.id = cell.Id();
  record.case_name = cell.case_name;
  record.fix = cell.fix;
  // The exact build that ran says more than the release asked for; before torch was imported only the latter is known.
  record.torch = observation.torch.empty() ? cell.torch : observation.torch;
  record.torch_git = observation.torch_git;
  record.triton = observation.triton;
  record.cuda = observation.cuda;
  record.python = observation.python;
  record.liger = context.liger_label.empty() ? cell.liger : context.liger_label;
  if (observation.call_site) record.call_site = observation.call_site->file + ":" + std::to_string(observation.call_site->line);
  record.device_kind = cell.device.kind;
  record.device_name = observation.device_name;
  record.capability = observation.capability.empty() ? cell.device.capability : observation.capability;
  record.shape = cell.shape;
  record.seed = cell.seed;
  record.poisoned = observation.poisoned;
  record.verdict = verdict;
  if (const ExceptionRecord* failure = FailureOf(observation, verdict.outcome)) record.exception = *failure;
  record.numerics = numerics;
  if (!record.numerics && observation.compiled.status == Phase::Status::kOk && !observation.values_computed)
    record.numerics = NumericsRecord{};  // says in the report that values were not computed
  record.memory.eager_peak_bytes = observation.eager.peak_bytes;
  record.memory.compiled_peak_bytes = observation.compiled.peak_bytes;
  record.memory.budget_ratio = context.memory_budget;
  record.memory.top_blocks = observation.top_blocks;
  // What a compile that failed has launched is the compiler's own benchmarking.
  const bool ended = observation.compiled.status == Phase::Status::kOk && observation.compiled.launches;
  record.launches = ended ? observation.compiled.launches : observation.eager.launches;
  record.eager_launches = observation.eager.launches;
  record.timings_ms = observation.timings_ms;
  record.lock_sha256 = context.lock_sha256;
  record.seconds = observation.end.seconds;
  record.folder = context.folder;
  return record;
}

}  // namespace flce
