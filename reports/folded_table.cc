#include "reports/folded_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/base/text.h"
#include "reports/words.h"

namespace flce {
namespace {

/// Tables that go into one, and what they have in common.
struct Group {
  std::string key;
  std::vector<size_t> members;
};

Group& GroupOf(std::vector<Group>& groups, const std::string& key) {
  auto it = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.key == key; });
  if (it == groups.end()) it = groups.insert(groups.end(), {key, {}});
  return *it;
}

std::string ColumnKey(const MatrixTable& table) { return table.columns[0].liger + "\n" + Join(table.columns[0].devices, "\n"); }

/// "emulated 9.0", "emulated 8.0..12.1", "NVIDIA H200 (9.0)".
std::string ColumnDevice(const MatrixColumn& column) {
  const CellRecord& cell = **std::find_if(column.cells.begin(), column.cells.end(), [](const CellRecord* c) { return c != nullptr; });
  if (column.devices.size() == 1) return DeviceWords(cell);
  const bool emulated = std::none_of(column.devices.begin(), column.devices.end(), [](const std::string& device) { return device.starts_with("gpu "); });
  return (emulated ? "emulated " : "") + column.DevicesName();
}

struct RowAxis {
  std::string_view name;
  std::string (*value)(const MatrixTable&);
};

constexpr std::array<RowAxis, 4> kRowAxes = {{{"case", [](const MatrixTable& table) { return table.case_name; }},
                                             {"fix", [](const MatrixTable& table) { return table.fix; }},
                                             {"shape", [](const MatrixTable& table) { return table.shape.empty() ? "own" : table.shape; }},
                                             {"seed", [](const MatrixTable& table) { return table.seed.empty() ? "own" : table.seed; }}}};

/// Fills rows and their axes, from a table of each row; what goes across is no axis of theirs. `place` is what the columns
/// share: "Liger 0.8.5, emulated 9.0".
void NameRows(const std::vector<const MatrixTable*>& tables, const std::string& place, FoldedTable& out) {
  const bool fixes_across = out.column_axes[0] == "fix";
  out.rows.resize(tables.size());
  for (const RowAxis& axis : kRowAxes) {
    if (axis.name == out.column_axes[0]) continue;
    const std::string first = axis.value(*tables[0]);
    if (std::all_of(tables.begin(), tables.end(), [&](const MatrixTable* table) { return axis.value(*table) == first; })) continue;
    out.row_axes.emplace_back(axis.name);
    for (size_t i = 0; i < tables.size(); ++i) out.rows[i].push_back(axis.value(*tables[i]));
  }
  const auto varies = [&](const char* name) { return std::find(out.row_axes.begin(), out.row_axes.end(), name) != out.row_axes.end(); };
  const MatrixTable& any = *tables[0];
  std::vector<std::string> words;
  if (!varies("case")) words.push_back(any.case_name);
  words.push_back(place);
  if (!varies("fix") && !fixes_across) words.push_back(any.fix == "none" ? "no fix" : "fix " + any.fix);
  if (!varies("shape") && !any.shape.empty()) words.push_back(any.shape);
  if (!varies("seed") && !any.seed.empty()) words.push_back("seed " + any.seed);
  out.constants = Join(words, ", ");
}

/// Tables of one column: torch goes across.
FoldedTable FoldColumns(const std::vector<const MatrixTable*>& tables) {
  FoldedTable out;
  std::vector<std::string> torches;
  for (const MatrixTable* table : tables) torches.insert(torches.end(), table->torches.begin(), table->torches.end());
  torches = SortedVersions(std::move(torches));
  out.column_axes = {"torch"};
  for (const std::string& torch : torches) out.columns.push_back({torch});
  for (const MatrixTable* table : tables) {
    std::vector<const CellRecord*>& cells = out.cells.emplace_back(torches.size());
    std::vector<std::string>& signs = out.signs.emplace_back(torches.size());
    for (size_t row = 0; row < table->torches.size(); ++row) {
      const auto at = std::find(torches.begin(), torches.end(), table->torches[row]) - torches.begin();
      cells[static_cast<size_t>(at)] = table->columns[0].cells[row];
      signs[static_cast<size_t>(at)] = table->columns[0].signs[row];
    }
  }
  NameRows(tables, "Liger " + tables[0]->columns[0].liger + ", " + ColumnDevice(tables[0]->columns[0]), out);
  return out;
}

/// Tables of one torch: Liger and devices stay across, merged anew where all rows agree.
FoldedTable FoldRows(const std::vector<const MatrixTable*>& tables, const ReportOptions& options, bool unicode) {
  FoldedTable out;
  std::vector<std::pair<size_t, const CellRecord*>> all;
  for (size_t row = 0; row < tables.size(); ++row)
    for (const CellRecord* cell : tables[row]->cells) all.emplace_back(row, cell);
  const std::vector<MatrixColumn> columns = MatrixColumns(all, tables.size(), options, unicode);
  if (columns.size() < 2) return out;  // nothing goes across
  const bool ligers = std::any_of(columns.begin(), columns.end(), [&](const MatrixColumn& column) { return column.liger != columns[0].liger; });
  const bool devices = std::any_of(columns.begin(), columns.end(), [&](const MatrixColumn& column) { return column.devices != columns[0].devices; });
  if (ligers) out.column_axes.emplace_back("Liger");
  if (devices) out.column_axes.emplace_back("capability");
  out.cells.resize(tables.size());
  out.signs.resize(tables.size());
  for (const MatrixColumn& column : columns) {
    std::vector<std::string>& name = out.columns.emplace_back();
    if (ligers) name.push_back(column.liger);
    if (devices) name.push_back(column.DevicesName());
    for (size_t row = 0; row < tables.size(); ++row) {
      out.cells[row].push_back(column.cells[row]);
      out.signs[row].push_back(column.signs[row]);
    }
  }
  NameRows(tables, "torch " + tables[0]->torches[0] + (ligers ? "" : ", Liger " + columns[0].liger) + (devices ? "" : ", " + ColumnDevice(columns[0])), out);
  return out;
}

/// Tables of one sign each, of the same torch, Liger and devices: fixes go across.
FoldedTable FoldFixes(const std::vector<const MatrixTable*>& tables) {
  FoldedTable out;
  out.column_axes = {"fix"};
  std::vector<const MatrixTable*> rows;
  for (const MatrixTable* table : tables) {
    const auto column = std::find(out.columns.begin(), out.columns.end(), std::vector<std::string>{table->fix});
    if (column == out.columns.end()) out.columns.push_back({table->fix});
  }
  for (const MatrixTable* table : tables) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const MatrixTable* other) {
      return other->case_name == table->case_name && other->shape == table->shape && other->seed == table->seed;
    });
    if (row == rows.end()) {
      row = rows.insert(rows.end(), table);
      out.cells.emplace_back(out.columns.size());
      out.signs.emplace_back(out.columns.size());
    }
    const auto at = static_cast<size_t>(row - rows.begin());
    const auto column = static_cast<size_t>(std::find(out.columns.begin(), out.columns.end(), std::vector<std::string>{table->fix}) - out.columns.begin());
    out.cells[at][column] = table->columns[0].cells[0];
    out.signs[at][column] = table->columns[0].signs[0];
  }
  const MatrixColumn& place = tables[0]->columns[0];
  NameRows(rows, "torch " + tables[0]->torches[0] + ", Liger " + place.liger + ", " + ColumnDevice(place), out);
  return out;
}

/// The tables in an order that keeps a case's fixes, and a fix's shapes, together.
std::vector<const MatrixTable*> Ordered(const std::vector<MatrixTable>& tables, std::vector<size_t> members) {
  const auto first = [&](size_t member, const RowAxis& axis) {
    return std::find_if(tables.begin(), tables.end(), [&](const MatrixTable& table) { return axis.value(table) == axis.value(tables[member]); }) - tables.begin();
  };
  std::vector<std::array<std::ptrdiff_t, 4>> ranks(tables.size());
  for (size_t member : members)
    for (size_t axis = 0; axis < 4; ++axis) ranks[member][axis] = first(member, kRowAxes[axis]);
  std::sort(members.begin(), members.end(), [&](size_t a, size_t b) { return std::tie(ranks[a], a) < std::tie(ranks[b], b); });
  std::vector<const MatrixTable*> out;
  for (size_t member : members) out.push_back(&tables[member]);
  return out;
}

}  // namespace

FoldedMatrix FoldedMatrixTables(const RunRecord& run, const ReportOptions& options, bool unicode) {
  std::vector<MatrixTable> tables = MatrixTables(run, options, unicode);
  std::vector<Group> by_column, by_torch;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].torches.size() > 1 && tables[i].columns.size() == 1) GroupOf(by_column, ColumnKey(tables[i])).members.push_back(i);
    if (tables[i].torches.size() == 1 && tables[i].cells.size() > 1) GroupOf(by_torch, tables[i].torches[0]).members.push_back(i);
  }
  const auto small = [](const Group& group) { return group.members.size() < kFoldFrom; };
  by_column.erase(std::remove_if(by_column.begin(), by_column.end(), small), by_column.end());
  by_torch.erase(std::remove_if(by_torch.begin(), by_torch.end(), small), by_torch.end());
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].cells.size() != 1) continue;
    const auto it = std::find_if(by_column.begin(), by_column.end(), [&](const Group& group) { return group.key == ColumnKey(tables[i]); });
    if (it != by_column.end()) it->members.push_back(i);
  }

  FoldedMatrix out;
  std::vector<bool> taken(tables.size());
  const auto keep = [&](FoldedTable table, const Group& group) {
    if (table.columns.size() < 2 || table.rows.size() < kFoldFrom) return;  // their own tables say as much
    out.folded.push_back(std::move(table));
    for (size_t member : group.members) taken[member] = true;
  };
  for (const Group& group : by_column) keep(FoldColumns(Ordered(tables, group.members)), group);
  for (const Group& group : by_torch) keep(FoldRows(Ordered(tables, group.members), options, unicode), group);
  std::vector<Group> by_place;
  for (size_t i = 0; i < tables.size(); ++i)
    if (!taken[i] && tables[i].torches.size() == 1 && tables[i].columns.size() == 1) GroupOf(by_place, tables[i].torches[0] + "\n" + ColumnKey(tables[i])).members.push_back(i);
  for (const Group& group : by_place) keep(FoldFixes(Ordered(tables, group.members)), group);
  for (size_t i = 0; i < tables.size(); ++i)
    if (!taken[i]) out.tables.push_back(std::move(tables[i]));
  return out;
}

}  // namespace flce
