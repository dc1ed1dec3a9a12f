#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/dispatch/cell_job.h"
#include "harness/dispatch/process_host.h"
#include "harness/model/observation.h"

namespace flce {

/// Cells that can share a zygote have the same worker, interpreter, libraries, variables, and the same changes to torch. Their
/// Ligers may differ, and what a fix does to Liger: the zygote imports none.
std::string ZygoteKey(const CellJob& job);

/// A line from a zygote, as far as a driver acts on it.
struct ZygoteNews {
  enum class Kind {
    kReady,
    kNotReady,  ///< it could not import; its cells run cold and tell why
    kEnded,     ///< a cell ended; `end` says how
    kRefused,   ///< a cell was never started
    kLost,      ///< a cell's parent died; it runs cold
    kOther,     ///< news that need no action
  };
  Kind kind = Kind::kOther;
  std::string cell_id, why;
  bool cancelled = false;
  ProcessEnd end;  ///< without the tail of stderr
};
ZygoteNews ParseZygoteLine(std::string_view line, uint64_t memory_limit_bytes);

/// The first line to a zygote that is to run cells like `job`, and the line of one cell. One JSON object without a line end.
Result<std::string> ZygoteStartLine(const CellJob& job);
Result<std::string> ZygoteCellLine(const CellJob& job);

/// The driver's end of one zygote process: starts it, sends lines, reads lines. It dies when this is destroyed.
class Zygote {
 public:
  /// `folder` takes its stdout, stderr and private files.
  static Result<Zygote> Start(ProcessHost& host, const CellJob& like, const fs::path& folder);
  Zygote(Zygote&& other) noexcept;
  Zygote& operator=(Zygote&&) = delete;
  ~Zygote();

  /// False once the other side is gone.
  bool Send(const std::string& line);
  /// Whole lines that have come; `closed` is set at end of file. Never blocks.
  std::vector<std::string> ReadLines(bool& closed);
  int descriptor() const { return fd_; }
  int handle() const { return handle_; }

 private:
  Zygote(ProcessHost& host, int handle, int fd) : host_(&host), handle_(handle), fd_(fd) {}
  ProcessHost* host_;
  int handle_, fd_;
  std::string buffer_;
};

}  // namespace flce
