#pragma once

#include <optional>

#include "harness/cli/locations.h"
#include "harness/cli/run_data.h"
#include "harness/cli/supply.h"
#include "harness/model/run_record.h"

namespace flce {

/// Turns what a worker saw into the report's row: signatures, verdict, numerics (a real GPU only), standing.
class Assessor {
 public:
  Assessor(const Locations& at, const RunData& data, double memory_budget) : at_(at), data_(data), memory_budget_(memory_budget) {}

  /// `folder` holds the cell's evidence; `name` is it relative to the run's folder.
  CellRecord Assess(const Cell& cell, const CellSupply& supply, const Observation& observation, const fs::path& folder,
                    const std::string& name) const;
  /// A cell that could not be run: no environment, or a fix that does not fit.
  CellRecord NotRun(const Cell& cell, Outcome outcome, Reason reason, const std::string& why) const;

 private:
  std::optional<NumericsRecord> CompareTensors(const Cell& cell, const CellSupply& supply, const Observation& observation,
                                               const fs::path& folder, std::vector<Finding>& findings) const;
  void AddStanding(CellRecord& record) const;

  const Locations& at_;
  const RunData& data_;
  double memory_budget_;
};

}  // namespace flce
