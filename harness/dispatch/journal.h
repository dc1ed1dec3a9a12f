#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/run_record.h"

namespace flce {

/// History of the journal's format: 1 first release. Kinds of lines may be added within a format; readers pass over
/// those they do not know.
constexpr int kJournalFormat = 1;

/// What a result depends on: the cell, and a hash for each input by name ("case", "signatures", "fix", "worker",
/// "environment"). Two equal keys have the same result.
struct CellKey {
  std::string cell_id;
  std::map<std::string, std::string> inputs;
  bool operator==(const CellKey&) const = default;
};

struct JournalHeader {
  std::string run_id, started, tool_version;
  std::vector<std::string> argv;
  std::map<std::string, std::string> hashes;  ///< inputs that all cells share
};

struct JournalEntry {
  CellKey key;
  CellRecord record;
};

struct JournalContent {
  JournalHeader header;
  std::vector<JournalEntry> entries;  ///< in the order written; a later one of the same cell replaces an earlier one
  int damaged_lines = 0;              ///< cut short by a kill, or otherwise unreadable
  std::optional<int> exit_code;       ///< of a run that ended by itself

  /// The last entry of a cell, or null.
  const JournalEntry* Find(const std::string& cell_id) const;
};

/// The journal of one run, an NDJSON file: one line a fact, synced before the call returns, so that a kill loses no
/// finished cell.
class Journal {
 public:
  /// A new journal in `run_folder` (made if absent). kUsage if one is there.
  static Result<Journal> Create(const fs::path& run_folder, const JournalHeader& header);
  /// The journal of an earlier run, to go on with. kUsage if another process writes it now.
  static Result<Journal> Resume(const fs::path& run_folder, const std::vector<std::string>& argv, const std::string& at);
  /// kNotFound if there is none; kData if it is no journal, or one of a later format.
  static Result<JournalContent> Read(const fs::path& run_folder);

  /// A full disk is kIo saying what was kept; the journal stays readable and can be resumed. A line that could not be
  /// written is tried again before the next one.
  Status Append(const CellKey& key, const CellRecord& record);
  Status Finish(int exit_code, const std::string& at);

  const fs::path& file() const { return file_; }
  size_t written() const { return written_; }

 private:
  Journal(fs::path file, FileLock lock) : file_(std::move(file)), lock_(std::move(lock)) {}
  Status Write(std::string line);

  fs::path file_;
  FileLock lock_;
  std::vector<std::string> pending_;
  size_t written_ = 0;
};

}  // namespace flce
