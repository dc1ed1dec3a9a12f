#include "reports/matrix_table.h"

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "reports/words.h"

namespace flce {
namespace {

std::string SignOf(const CellRecord& cell, const ReportOptions& options, bool unicode) {
  const Mark mark = MarkOf(cell, options);
  std::string sign = unicode ? mark.sign : mark.ascii_sign;
  if (OverBudget(cell)) sign += "m";
  if (cell.standing == Standing::kRegressed) sign += unicode ? "↓" : "v";
  if (cell.standing == Standing::kImproved) sign += unicode ? "↑" : "^";
  if (cell.standing == Standing::kChanged) sign += "~";
  return sign;
}

std::string DeviceKey(const CellRecord& cell) {
  return (cell.device_kind == DeviceKind::kCuda ? "gpu " : "") + cell.capability;
}

}  // namespace

std::vector<MatrixColumn> MatrixColumns(const std::vector<std::pair<size_t, const CellRecord*>>& cells, size_t rows, const ReportOptions& options, bool unicode) {
  std::vector<std::string> devices, ligers;
  std::map<std::pair<std::string, std::string>, std::vector<const CellRecord*>> by_column;
  for (const auto& [row, cell] : cells) {
    ligers.push_back(cell->liger);
    devices.push_back(DeviceKey(*cell));
    std::vector<const CellRecord*>& column = by_column[{cell->liger, DeviceKey(*cell)}];
    column.resize(rows);
    column[row] = cell;
  }
  devices = SortedVersions(std::move(devices));
  std::vector<MatrixColumn> columns;
  for (const std::string& liger : SortedVersions(std::move(ligers))) {
    const auto first_of_liger = static_cast<std::ptrdiff_t>(columns.size());
    for (const std::string& device : devices) {
      const auto found = by_column.find({liger, device});
      if (found == by_column.end()) continue;
      MatrixColumn column{liger, {device}, found->second, {}};
      for (const CellRecord* cell : column.cells) column.signs.push_back(cell == nullptr ? "" : SignOf(*cell, options, unicode));
      const auto alike = std::find_if(columns.begin() + first_of_liger, columns.end(),
                                      [&](const MatrixColumn& other) { return other.signs == column.signs; });
      if (alike != columns.end()) {
        alike->devices.push_back(device);
      } else {
        columns.push_back(std::move(column));
      }
    }
  }
  return columns;
}

std::string MatrixColumn::DevicesName() const {
  if (devices.size() <= 2) return Join(devices, ",");
  return devices.front() + ".." + devices.back();
}

std::string MatrixTable::Title() const {
  return case_name + (fix == "none" ? ", no fix" : ", fix " + fix) + (shape.empty() ? "" : ", " + shape) + (seed.empty() ? "" : ", seed " + seed);
}

std::vector<MatrixTable> MatrixTables(const RunRecord& run, const ReportOptions& options, bool unicode) {
  std::vector<MatrixTable> tables;
  for (const CellRecord& cell : run.cells) {
    const std::string shape = cell.shape ? Text(*cell.shape) : "";
    const std::string seed = cell.seed ? std::to_string(*cell.seed) : "";
    auto it = std::find_if(tables.begin(), tables.end(), [&](const MatrixTable& table) {
      return table.case_name == cell.case_name && table.fix == cell.fix && table.shape == shape && table.seed == seed;
    });
    if (it == tables.end()) it = tables.insert(tables.end(), {cell.case_name, cell.fix, shape, seed, {}, {}, {}});
    it->cells.push_back(&cell);
    it->torches.push_back(PublicVersion(cell.torch));
  }
  for (MatrixTable& table : tables) {
    table.torches = SortedVersions(std::move(table.torches));
    std::vector<std::pair<size_t, const CellRecord*>> cells;
    for (const CellRecord* cell : table.cells) {
      const auto row = std::find(table.torches.begin(), table.torches.end(), PublicVersion(cell->torch));
      cells.emplace_back(static_cast<size_t>(row - table.torches.begin()), cell);
    }
    table.columns = MatrixColumns(cells, table.torches.size(), options, unicode);
  }
  return tables;
}

}  // namespace flce
