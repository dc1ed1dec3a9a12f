#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/model/run_record.h"
#include "reports/terminal.h"
#include "reports/words.h"

namespace flce {

/// Shows a run as it goes. On a terminal: a block of lines that is drawn anew, at most ten times a second: what is
/// fetched, the running cells with their stage, and a bar. In a log: a line per finished cell and per finished
/// provisioning, and for long ones a line every 15 seconds. Not thread-safe: called from the run's own loop.
class Progress {
 public:
  struct Options {
    bool live = false;   ///< a terminal that understands cursor movement
    bool quiet = false;  ///< nothing at all
    TerminalOptions terminal;
  };
  using Sink = std::function<void(std::string_view)>;

  Progress(Options options, const ReportOptions& texts, Clock& clock, Sink sink);
  /// Erases the block, so that a failure's message stands on a clean line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void BeginRun(size_t cells);
  /// `total` 0: unknown. Finished when `done` is `total` and not 0, or by EndProvisioning.
  void Provisioning(const std::string& what, uint64_t done_bytes, uint64_t total_bytes);
  void EndProvisioning(const std::string& what);
  void CellStarted(const std::string& id, const std::string& words);
  void CellStage(const std::string& id, Stage stage);
  void CellFinished(const CellRecord& cell);
  /// A line of its own, above the block.
  void Note(std::string_view line);
  /// Redraws if it is time; call it from the loop. Returns the seconds until it wants to be called again.
  double Tick();
  /// Erases the block for good.
  void Finish();

 private:
  struct Fetch {
    uint64_t done = 0, total = 0;
    double begun = 0, told = 0;
  };
  struct Running {
    std::string words, stage;
    double begun = 0, told = 0;
  };

  void PrintLine(const std::string& line);
  void Draw(bool force);
  void Erase();
  std::string Block(size_t& lines) const;
  std::string FetchText(const std::string& what, const Fetch& fetch, double now) const;
  std::string TimeLeft(double now) const;

  Options options_;
  const ReportOptions& texts_;
  Clock& clock_;
  Sink sink_;
  size_t cells_ = 0, finished_ = 0;
  std::map<std::string, size_t> labels_;
  std::map<std::string, Fetch> fetches_;
  std::map<std::string, Running> running_;
  double begun_ = 0, drawn_ = -1, cells_begun_ = -1;
  size_t block_lines_ = 0;
  size_t frame_ = 0;
};

}  // namespace flce
