#pragma once

#include <optional>

#include "harness/cli/locations.h"
#include "harness/cli/run_data.h"
#include "harness/cli/supply.h"
#include "harness/model/run_record.h"

namespace flce {

/// Rows x hidden x vocabulary up to which the fp64 reference and the bounds take a CPU less than a minute or two.
constexpr int64_t kLargestOnCpu = int64_t{1} << 35;

/// Where flce-numerics judges a cell: "cuda" for one that ran there if `devices` (its answer, one a line) names it, "cpu" if
/// the shape allows. kEnvironment saying what to build otherwise.
Result<std::string> JudgingDevice(DeviceKind kind, const Shape& shape, const std::string& devices);

/// Turns what a worker saw into the report's row: signatures, verdict, numerics (a real GPU only), standing.
class Assessor {
 public:
  Assessor(const Locations& at, const RunData& data, double memory_budget) : at_(at), data_(data), memory_budget_(memory_budget) {}

  /// `folder` holds the cell's evidence; `name` is it relative to the run's folder.
  CellRecord Assess(const Cell& cell, const CellSupply& supply, const Observation& observation, const fs::path& folder,
                    const std::string& name) const;
  /// A cell that could not be run: no environment, or a fix that does not fit.
  CellRecord NotRun(const Cell& cell, Outcome outcome, Reason reason, const std::string& why) const;
  /// Sets the standing by the rules of today, whatever stood there.
  void Judge(CellRecord& record) const;

 private:
  std::optional<NumericsRecord> CompareTensors(const Cell& cell, const CellSupply& supply, const Observation& observation,
                                               const fs::path& folder, std::vector<Finding>& findings) const;
  /// What `flce-numerics devices` answers, asked once.
  const std::string& Devices() const;

  const Locations& at_;
  const RunData& data_;
  double memory_budget_;
  mutable std::optional<std::string> devices_;
};

}  // namespace flce
