#include <algorithm>
#include <numeric>

#include "harness/base/text.h"
#include "reports/clean_text.h"
#include "reports/folded_table.h"
#include "reports/terminal_parts.h"

namespace flce {
namespace {

constexpr size_t kMaxLiger = 14;
constexpr size_t kMaxColumnName = 20;
constexpr size_t kMinRowName = 12;

std::string SignText(const CellRecord* cell, const std::string& sign, size_t width, const ReportOptions& options, const Ink& ink) {
  return cell == nullptr ? std::string(width, ' ') : PaintMark(MarkOf(*cell, options), sign, width, ink);
}

std::string TrimEnd(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// FitWidth where the mark of a cut will be three dots: this terminal has no character for it.
std::string FitName(const std::string& name, size_t width, const TerminalOptions& terminal) {
  if (terminal.unicode || DisplayWidth(name) <= width || width < 4) return FitWidth(name, width);
  return ReplaceAll(FitWidth(name, width - 2), "…", "...");
}

/// A patch is known by its file name; where it lies is in the report.
std::string PlainName(const std::string& axis, const std::string& value) {
  return ReadableLine(axis == "fix" ? value.substr(value.rfind('/') + 1) : value);
}

/// Widths of the row axes, two columns of space included. Where all would not fit, names are cut to half the terminal.
std::vector<size_t> RowNameWidths(const FoldedTable& table, size_t columns_width, size_t terminal_width) {
  std::vector<size_t> widths;
  for (size_t axis = 0; axis < table.row_axes.size(); ++axis) {
    size_t width = DisplayWidth(table.row_axes[axis]);
    for (const std::vector<std::string>& row : table.rows) width = std::max(width, DisplayWidth(PlainName(table.row_axes[axis], row[axis])));
    widths.push_back(width + 2);
  }
  const auto used = [&] { return std::accumulate(widths.begin(), widths.end(), size_t{4}); };
  if (used() + columns_width <= terminal_width) return widths;
  while (used() > terminal_width / 2) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kMinRowName) break;
    --*widest;
  }
  return widths;
}

}  // namespace

std::string FoldedTableText(const FoldedTable& table, const ReportOptions& options, const TerminalOptions& terminal) {
  const Ink ink(terminal.color);
  std::string out = "\n  " + ink.Bold(FitWidth(ReadableLine(table.constants), terminal.width - 2)) + "\n";

  const auto name_of = [&](size_t column, size_t axis) { return FitName(PlainName(table.column_axes[axis], table.columns[column][axis]), kMaxColumnName, terminal); };
  std::vector<size_t> widths;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    size_t width = 0;
    for (size_t axis = 0; axis < table.column_axes.size(); ++axis) width = std::max(width, DisplayWidth(name_of(column, axis)));
    for (const std::vector<std::string>& signs : table.signs) width = std::max(width, DisplayWidth(signs[column]));
    widths.push_back(width + 2);
  }
  size_t tail = 0;  // "   <- capability", of which a column's own space is a part
  for (const std::string& axis : table.column_axes) tail = std::max(tail, DisplayWidth(axis) + 4);
  const std::vector<size_t> row_widths = RowNameWidths(table, std::accumulate(widths.begin(), widths.end(), tail), terminal.width);
  const size_t row_width = std::accumulate(row_widths.begin(), row_widths.end(), size_t{4});

  // A table that is too wide goes on below: every part repeats the rows' names.
  for (size_t begin = 0; begin < table.columns.size();) {
    size_t end = begin, used = row_width + tail;
    while (end < table.columns.size() && (end == begin || used + widths[end] <= terminal.width)) used += widths[end++];
    if (begin > 0) out += "\n";
    for (size_t axis = 0; axis < table.column_axes.size(); ++axis) {
      const bool last = axis + 1 == table.column_axes.size();
      std::string head = "    ";
      for (size_t row_axis = 0; row_axis < table.row_axes.size(); ++row_axis) head += PadWidth(last ? table.row_axes[row_axis] : "", row_widths[row_axis]);
      for (size_t column = begin; column < end; ++column) {
        const bool same = !last && column > begin && table.columns[column][axis] == table.columns[column - 1][axis];
        head += PadWidth(same ? "" : name_of(column, axis), widths[column]);
      }
      out += ink.Dim(TrimEnd(std::move(head)) + "   <- " + table.column_axes[axis]) + "\n";
    }
    for (size_t row = 0; row < table.rows.size(); ++row) {
      std::string line = "    ";
      for (size_t axis = 0; axis < table.row_axes.size(); ++axis)
        line += PadWidth(FitName(PlainName(table.row_axes[axis], table.rows[row][axis]), row_widths[axis] - 2, terminal), row_widths[axis]);
      for (size_t column = begin; column < end; ++column) line += SignText(table.cells[row][column], table.signs[row][column], widths[column], options, ink);
      out += TrimEnd(std::move(line)) + "\n";
    }
    begin = end;
  }
  return out;
}

std::string MatrixTableText(const MatrixTable& table, const ReportOptions& options, const TerminalOptions& terminal) {
  const Ink ink(terminal.color);
  const std::vector<MatrixColumn>& columns = table.columns;
  std::string out = "\n  " + ink.Bold(FitWidth(ReadableLine(table.Title()), terminal.width - 2)) + "\n";

  size_t row_width = 7;
  for (const std::string& torch : table.torches) row_width = std::max(row_width, DisplayWidth(torch) + 2);
  std::vector<size_t> widths;
  for (const MatrixColumn& column : columns) {
    size_t width = std::max(DisplayWidth(FitWidth(column.liger, kMaxLiger)), DisplayWidth(column.DevicesName()));
    for (const std::string& sign : column.signs) width = std::max(width, DisplayWidth(sign));
    widths.push_back(width + 2);
  }
  // A table that is too wide goes on below: every part repeats the versions of torch.
  for (size_t begin = 0; begin < columns.size();) {
    size_t end = begin, used = row_width + 4;
    while (end < columns.size() && (end == begin || used + widths[end] + 15 <= terminal.width)) used += widths[end++];
    std::string head = "    " + PadWidth("torch", row_width), second = "    " + PadWidth("", row_width);
    for (size_t i = begin; i < end; ++i) {
      const bool same = i > begin && columns[i].liger == columns[i - 1].liger;
      head += PadWidth(same ? "" : FitWidth(ReadableLine(columns[i].liger), kMaxLiger), widths[i]);
      second += PadWidth(columns[i].DevicesName(), widths[i]);
    }
    out += ink.Dim(std::string(Trim(head)).insert(0, "    ") + "   <- Liger") + "\n" + ink.Dim(second) + ink.Dim(" <- capability") + "\n";
    for (size_t row = 0; row < table.torches.size(); ++row) {
      out += "    " + PadWidth(table.torches[row], row_width);
      for (size_t i = begin; i < end; ++i) {
        out += SignText(columns[i].cells[row], columns[i].signs[row], widths[i], options, ink);
      }
      while (out.back() == ' ') out.pop_back();
      out += "\n";
    }
    begin = end;
    if (begin < columns.size()) out += "\n";
  }
  return out;
}

}  // namespace flce
