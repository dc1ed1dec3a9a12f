#pragma once

#include <string>
#include <vector>

#include "harness/cli/run_data.h"
#include "harness/cli/run_options.h"
#include "harness/model/cell.h"
#include "harness/provision/provisioner.h"

namespace flce {

/// Where a run's cells go, settled before anything is installed.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::kEmulated;
  Flavour flavour = Flavour::kLean;
  std::vector<DeviceSpec> devices;
  std::string note;  ///< "no GPU answers (...): emulated" for --device auto; "" otherwise
};

/// Checks --device and --capability: kUsage for what is unknown, kEnvironment when a GPU is required and none answers.
Result<DeviceChoice> ChooseDevices(const RunOptions& options, const DeviceCatalogue& catalogue);

/// Checks every name that needs no network (cases, fixes, shape, exclusions), so that a typing error is told at once.
Result<std::vector<std::string>> ChooseCases(const RunOptions& options, const CaseCatalogue& catalogue);
Result<std::vector<std::string>> ChooseFixes(const RunOptions& options, const fs::path& cases_dir);

/// The cells of a run in the order of ExpandMatrix. Resolves releases through the provisioner.
/// A control of each role that a gate needs, in the surroundings of `like`. kData when no case plays a role.
Result<std::vector<Cell>> PlanControls(const Cell& like, const RunData& data);

Result<std::vector<Cell>> PlanCells(const RunOptions& options, const RunData& data, const DeviceChoice& devices, const fs::path& cases_dir,
                                    Provisioner& provisioner);

}  // namespace flce
