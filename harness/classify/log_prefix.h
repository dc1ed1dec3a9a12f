#pragma once

#include <string>
#include <string_view>

namespace flce {

/// A line of a log without what launchers and loggers put in front of it.
struct LogLine {
  std::string_view text;   ///< with its own indentation
  std::string stream;      ///< who wrote it, as the line says: "rank 3", "worker-1"; "" when it does not
  unsigned prefixes = 0;   ///< kinds of prefixes that were there, a set of the bits below
  bool pytest = false;     ///< an "E   " line of a pytest report
};

enum LogPrefix : unsigned {
  kStreamPrefix = 1,     ///< a rank, a worker, a container
  kTimePrefix = 2,       ///< a date or a time
  kGlogPrefix = 4,       ///< of TORCH_LOGS: "W0910 12:34:56.789000 1234 torch/_dynamo/x.py:1] [0/0] "
  kLevelPrefix = 8,      ///< "ERROR: ", "[WARNING] ", "INFO - "
  kQuotePrefix = 16,     ///< "> " of a mail or an issue
};

/// `line` holds no line end and no escape sequences; the result's text points into it.
LogLine StripLogPrefix(std::string_view line);

}  // namespace flce
