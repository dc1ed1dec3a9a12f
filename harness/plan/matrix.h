#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/model/cell.h"
#include "harness/model/cell_pattern.h"

namespace flce {

/// What a run is asked for: one list an axis, each already checked and resolved to exact versions.
struct SelectionSpec {
  std::vector<std::string> torch, liger, fixes, cases;
  std::vector<DeviceSpec> devices;
  std::vector<std::optional<Shape>> shapes = {std::nullopt};  ///< nullopt: the case's own
  std::vector<std::optional<int64_t>> seeds = {std::nullopt};  ///< nullopt: kDefaultSeed
  std::vector<CellPattern> exclude;                           ///< a cell that one matches is left out
  std::vector<CellPattern> only;                              ///< when not empty, a cell must match one
};

/// The product of the lists without what is excluded, each cell once. The order is that of the lists, with the axes that
/// share an environment innermost: torch, Liger, fix, device, case, shape, seed. An empty axis is kUsage naming it; a product
/// that the filters leave empty is an empty list.
Result<std::vector<Cell>> ExpandMatrix(const SelectionSpec& spec);

}  // namespace flce
