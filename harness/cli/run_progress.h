#pragma once

#include <map>
#include <string>

#include "harness/base/files.h"
#include "harness/model/run_record.h"
#include "harness/provision/provisioner.h"

namespace flce {

/// What a person sees while a run goes on, on standard error: one line that is redrawn on a terminal, plain lines with
/// what ended in a log, nothing when quiet.
class RunProgress {
 public:
  explicit RunProgress(bool quiet);
  ~RunProgress();

  void Note(const std::string& text);  ///< a line of its own; nothing for ""
  void Provisioning(const Progress& step);
  void Start(size_t cells);
  /// `folder` is where the worker writes its stages.
  void Begun(const Cell& cell, const fs::path& folder);
  void Ended(const CellRecord& record);
  /// Redraws, at most a few times a second.
  void Tick();
  void Finish();

 private:
  std::string StatusLine() const;
  void Draw(const std::string& line);
  void Clear();

  bool quiet_, terminal_;
  size_t width_ = 100, total_ = 0, done_ = 0;
  double started_ = 0, drawn_at_ = -1;
  bool drawn_ = false;
  std::string provisioning_, last_logged_;
  std::map<std::string, fs::path> running_;  // cell id -> its folder
  std::map<std::string, int> outcomes_;
};

}  // namespace flce
