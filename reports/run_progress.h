#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/model/run_record.h"
#include "reports/terminal.h"
#include "reports/words.h"

namespace flce {

/// Shows a run as it goes. On a terminal: a block of lines that is drawn anew, at most ten times a second: what is
/// fetched, the running cells with their stage, and a bar. In a log: a line per finished cell and per finished
/// provisioning, and for long ones a line every 15 seconds. Not thread-safe: called from the run's own loop.
class RunProgress {
 public:
  struct Options {
    bool live = false;   ///< a terminal that understands cursor movement
    bool quiet = false;  ///< nothing at all
    TerminalOptions terminal;
  };
  using Sink = std::function<void(std::string_view)>;

  /// `clock` and what `sink` writes to must outlive the object.
  RunProgress(Options options, Clock& clock, Sink sink);
  /// Erases the block, so that a failure's message stands on a clean line.
  ~RunProgress();
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  /// Lines on cells name their case when there are several. The labels of signatures come from `texts`, which must
  /// outlive the object.
  void BeginRun(size_t cells, bool several_cases, const ReportOptions& texts);
  /// `stage` says what is being done for `what`. Bytes count from the beginning of a stage; `total` 0: unknown.
  void Provisioning(const std::string& what, const std::string& stage, uint64_t done_bytes, uint64_t total_bytes);
  void EndProvisioning(const std::string& what);
  /// A cell that has its turn later: counted, not shown.
  void CellWaits(const std::string& id, const std::string& words);
  /// A waiting cell's process is at `stage` ("dynamo"); the first call says that it runs.
  void CellStage(const std::string& id, const std::string& stage);
  void CellFinished(const CellRecord& cell);
  /// The same for a control, which may well have crashed: the line says whether it came out as it must.
  void ControlFinished(const CellRecord& cell, const ControlRecord& control);
  /// A line of its own, above the block; nothing for "".
  void Note(std::string_view line);
  /// Cells that wait or run.
  std::vector<std::string> Unfinished() const;
  /// The terminal's width now; 0: unknown.
  void SetWidth(size_t columns);
  /// Redraws if it is time; call it from the loop.
  void Tick();
  /// Erases the block for good.
  void Finish();

 private:
  struct Fetch {
    std::string stage;
    uint64_t done = 0, total = 0, peak = 0;
    double begun = 0, stage_begun = 0, told = 0;
  };
  struct Running {
    std::string words, stage;  // no stage: it waits
    double begun = 0, told = 0;
  };

  void PrintLine(const std::string& line);
  void Draw(bool force);
  void Erase();
  std::string Block(size_t& lines) const;
  std::string FetchText(const std::string& what, const Fetch& fetch, double now) const;
  std::string TimeLeft(double now) const;

  Options options_;
  const ReportOptions* texts_ = nullptr;
  Clock& clock_;
  Sink sink_;
  bool several_cases_ = false;
  size_t cells_ = 0, finished_ = 0, ran_ = 0;
  std::map<std::string, size_t> labels_;
  std::map<std::string, Fetch> fetches_;
  std::map<std::string, Running> running_;
  double drawn_ = -1, cells_begun_ = -1, last_finish_ = -1;
  size_t block_lines_ = 0;
  size_t frame_ = 0;
};

}  // namespace flce
