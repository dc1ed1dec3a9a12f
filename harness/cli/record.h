#pragma once

#include <optional>
#include <string>

#include "harness/model/run_record.h"

namespace flce {

/// What the driver knows of a cell apart from what its worker saw.
struct CellContext {
  const Cell* cell = nullptr;
  std::string liger_label;  ///< "0.8.5", or a checkout's version and commit
  std::string lock_sha256;
  std::string folder;  ///< of the evidence, relative to the run's folder
  std::optional<double> memory_budget;
};

/// The report's row: the observation and its verdict, without standing (the judge adds it).
CellRecord MakeRecord(const CellContext& context, const Observation& observation, const Verdict& verdict,
                      const std::optional<NumericsRecord>& numerics);

/// The exception that a verdict of this outcome speaks of: eager's where eager is what failed or what the toolchain failed
/// in, else the compiled run's; null when nothing was raised.
const ExceptionRecord* FailureOf(const Observation& observation, Outcome outcome);

}  // namespace flce
