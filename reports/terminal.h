#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model/run_record.h"
#include "reports/report_options.h"

namespace flce {

struct TerminalOptions {
  bool color = false;
  bool unicode = true;
  size_t width = 100;     ///< columns
  bool verbose = false;   ///< exception chain, frames, launches, environment
  bool quiet = false;     ///< one line
};

/// What the terminal behind a stream can show. Colour needs a terminal, no NO_COLOR (set and not empty) and a TERM that
/// is not "dumb"; `columns` is what the terminal says (0: unknown, then COLUMNS, then 100).
TerminalOptions DetectTerminal(bool is_terminal, size_t columns, const std::function<const char*(const char*)>& environment);
/// The same for a file descriptor of this process.
TerminalOptions DetectTerminal(int fd);

/// The run as a person reads it: the verdict of a single cell in full, of several as a matrix with what needs attention
/// below. Ends with a line end; no line is wider than the terminal, except for a word that cannot be cut (a path).
std::string RenderTerminal(const RunRecord& run, const ReportOptions& options, const TerminalOptions& terminal);

/// Colours, or nothing at all.
class Ink {
 public:
  explicit Ink(bool color) : color_(color) {}
  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Dim(std::string_view text) const { return Wrap("2", text); }
  std::string Red(std::string_view text) const { return Wrap("31", text); }
  std::string Green(std::string_view text) const { return Wrap("32", text); }
  std::string Yellow(std::string_view text) const { return Wrap("33", text); }
  std::string Blue(std::string_view text) const { return Wrap("34", text); }
  std::string Magenta(std::string_view text) const { return Wrap("35", text); }
  std::string Cyan(std::string_view text) const { return Wrap("36", text); }

 private:
  std::string Wrap(const char* code, std::string_view text) const;
  bool color_;
};

}  // namespace flce
