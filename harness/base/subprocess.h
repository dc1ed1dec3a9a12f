#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

struct Exited {
  int code = 0;
};
struct Signaled {
  int signal = 0;
};
/// The deadline passed; the group was told to terminate, then killed.
struct TimedOut {
  double after_s = 0;
};
/// Stop() was called (an interrupt, say).
struct Stopped {};
using ExitState = std::variant<Exited, Signaled, TimedOut, Stopped>;

/// "exit code 3", "signal 11 (Segmentation fault)", "time-out after 300 s", "stopped".
std::string Describe(const ExitState& state);

struct ProcessOptions {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH when it holds no slash
  /// Changes to this process's environment: a value sets, nullopt removes.
  std::map<std::string, std::optional<std::string>> environment;
  fs::path working_directory;  ///< empty: this process's
  /// Files that take the streams; when empty the stream is captured in ProcessResult (at most capture_limit bytes).
  fs::path stdout_file, stderr_file;
  bool inherit_stderr = false;  ///< stderr goes to ours (a progress bar of another program)
  size_t capture_limit = 8u << 20;
  double deadline_s = 0;                ///< 0: none
  double grace_s = 2;                   ///< from SIGTERM to SIGKILL
  uint64_t address_space_bytes = 0;     ///< RLIMIT_AS; 0: as inherited
  std::function<void(std::string_view)> on_stderr;  ///< sees captured stderr as it comes
  std::vector<int> keep_fds;            ///< descriptors that stay open under their numbers
};

struct ProcessResult {
  ExitState state;
  std::string out, err;
  double seconds = 0;
  double user_s = 0, system_s = 0;
  uint64_t max_rss_bytes = 0;

  /// True for exit code 0.
  bool ok() const { return std::holds_alternative<Exited>(state) && std::get<Exited>(state).code == 0; }
};

/// A started child in a process group of its own. It is passive: ProcessSet moves it on. It dies with this process
/// (PR_SET_PDEATHSIG), reads /dev/null, and what is left of its group is killed when it ends, since Inductor and uv
/// start helpers of their own.
class Subprocess {
 public:
  static Result<std::unique_ptr<Subprocess>> Start(ProcessOptions options);
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }
  bool finished() const { return result_.has_value(); }
  /// Only once finished.
  const ProcessResult& result() const { return *result_; }
  /// Begins the stop ladder now: SIGTERM to the group, SIGKILL after the grace time.
  void Stop();

 private:
  friend class ProcessSet;
  explicit Subprocess(ProcessOptions options) : options_(std::move(options)) {}
  void Pump(int& fd, std::string& sink, bool is_stderr);
  void Advance();
  void Finish(int wait_status, const ::rusage& usage);
  double NextWakeUp() const;

  ProcessOptions options_;
  pid_t pid_ = -1;
  int pid_fd_ = -1, out_fd_ = -1, err_fd_ = -1;
  double started_ = 0, terminated_at_ = -1;
  bool timed_out_ = false, stopped_ = false, killed_ = false;
  ProcessResult partial_;
  std::optional<ProcessResult> result_;
};

/// Runs children with one poll loop and no threads.
class ProcessSet {
 public:
  /// Not owned; must stay alive until finished.
  void Add(Subprocess* child) { children_.push_back(child); }
  size_t size() const { return children_.size(); }
  /// Waits until a child finishes, `wait_s` passes, or an interrupt arrives. Returns the children that finished, which
  /// leave the set. On an interrupt every child is stopped; call on until the set is empty.
  std::vector<Subprocess*> Wait(double wait_s);

 private:
  std::vector<Subprocess*> children_;
};

/// Starts a child and waits for it. An Error means it could not be started; a failing child is a result.
Result<ProcessResult> RunProcess(ProcessOptions options);

/// Turns SIGINT, SIGTERM and SIGHUP into a flag and a readable descriptor, so that loops end tidily. A second SIGINT
/// ends the process at once.
class Interrupt {
 public:
  static void Install();
  static bool Requested();
  static int Descriptor();  ///< -1 when not installed; readable once requested
  static void ResetForTest();
};

}  // namespace flce
