#include "harness/cli/table.h"

#include <algorithm>
#include <cctype>

namespace flce {

std::string Table::Render() const {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    const bool header = &row == &rows_.front();
    for (size_t i = 0; i < row.size(); ++i) {
      std::string cell = row[i];
      if (header) std::transform(cell.begin(), cell.end(), cell.begin(), [](unsigned char c) { return std::toupper(c); });
      if (i + 1 < row.size()) cell.resize(widths[i] + 2, ' ');
      text += cell;
    }
    text += '\n';
  }
  return text;
}

}  // namespace flce
