#pragma once

#include <string>
#include <vector>

namespace flce {

/// A plain table for the terminal: columns as wide as their longest cell, the last one as it comes.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The table with a header in capitals and a line end after each row.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace flce
