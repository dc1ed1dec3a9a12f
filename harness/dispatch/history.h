#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/run_record.h"

struct sqlite3;

namespace flce {

/// History of the store's format (SQLite's user_version): 1 first release.
constexpr int kHistoryFormat = 1;

struct HistoryRun {
  std::string id, started, finished, tool_version;
  std::vector<std::string> argv;
  int exit_code = 0;
  int cells = 0;
};

/// One cell at one time.
struct HistoryEntry {
  std::string run, at;
  CellRecord record;  ///< without exception, launches and blocks: those stay in the run's report
};

struct HistoryFilter {
  /// "" : any; with '*' as wildcard.
  std::string cell{}, case_name{}, torch{}, liger{}, fix{}, capability{};
};

/// Every run and cell ever, in one SQLite file of the state directory. Several drivers may use it at once (one
/// writes at a time, the others wait), also while it does not exist yet.
class History {
 public:
  /// Makes it if absent. kData if a later version of this program wrote it; kIo if another program holds it longer than
  /// `wait`, which every later call waits, too.
  static Result<History> Open(const fs::path& file, std::chrono::milliseconds wait = std::chrono::seconds(30));
  History(History&&) noexcept;
  ~History();

  /// Adds the run, or replaces what an earlier part of it (before --resume) stored. All or nothing.
  Status Record(const RunRecord& run);

  Result<std::vector<HistoryRun>> Runs() const;  ///< newest first
  /// The cells that match, by cell and time.
  Result<std::vector<HistoryEntry>> Entries(const HistoryFilter& filter) const;
  /// The newest entry of each cell.
  Result<std::vector<HistoryEntry>> Latest(const HistoryFilter& filter) const;
  /// The cells of one run; kNotFound naming the newest runs. "last" and "last~1" are the newest and the one before.
  Result<std::vector<CellRecord>> CellsOf(const std::string& run) const;

 private:
  struct Closer {
    void operator()(sqlite3* db) const;
  };
  explicit History(sqlite3* db) : db_(db) {}
  std::unique_ptr<sqlite3, Closer> db_;
};

}  // namespace flce
