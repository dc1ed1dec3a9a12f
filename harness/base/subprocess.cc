#include "harness/base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/base/clock.h"
#include "harness/base/text.h"

extern char** environ;

namespace flce {
namespace {

double Now() { return SystemClock().Monotonic(); }

void Close(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

/// Our environment with the changes applied, as NAME=VALUE.
std::vector<std::string> BuildEnvironment(const std::map<std::string, std::optional<std::string>>& changes) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (changes.find(std::string(text.substr(0, text.find('=')))) == changes.end()) environment.emplace_back(text);
  }
  for (const auto& [name, value] : changes)
    if (value) environment.push_back(name + "=" + *value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child does between fork and exec: async-signal-safe calls only. Reports errno through `report` on failure.
[[noreturn]] void ChildMain(const ProcessOptions& options, char* const* argv, char* const* environment, int out, int err, int report,
                            pid_t parent) {
  const auto fail = [&] {
    const int code = errno;
    (void)!::write(report, &code, sizeof code);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before prctl took effect
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) fail();
  if (err >= 0 && ::dup2(err, STDERR_FILENO) < 0) fail();
  for (int fd : options.keep_fds) ::fcntl(fd, F_SETFD, 0);
  if (options.address_space_bytes > 0) {
    const rlimit limit{options.address_space_bytes, options.address_space_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) fail();
  }
  if (!options.working_directory.empty() && ::chdir(options.working_directory.c_str()) != 0) fail();
  ::execvpe(argv[0], argv, environment);
  fail();
  ::_exit(127);
}

struct Stream {
  int parent = -1;  // our end of the pipe, -1 when the stream goes to a file
  int child = -1;
};

Result<Stream> OpenStream(const fs::path& file) {
  Stream stream;
  if (!file.empty()) {
    stream.child = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (stream.child < 0) return Error{ErrorKind::kIo, "cannot write " + file.string() + ": " + std::strerror(errno)};
    return stream;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorKind::kIo, std::string("cannot create a pipe: ") + std::strerror(errno)};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  stream.parent = ends[0];
  stream.child = ends[1];
  return stream;
}

volatile std::sig_atomic_t g_interrupted = 0;
int g_interrupt_pipe[2] = {-1, -1};

void OnInterrupt(int number) {
  if (g_interrupted && number == SIGINT) ::_exit(130);
  g_interrupted = 1;
  const int saved = errno;
  (void)!::write(g_interrupt_pipe[1], "x", 1);
  errno = saved;
}

}  // namespace

std::string Describe(const ExitState& state) {
  if (const auto* exited = std::get_if<Exited>(&state)) return "exit code " + std::to_string(exited->code);
  if (const auto* signaled = std::get_if<Signaled>(&state))
    return "signal " + std::to_string(signaled->signal) + " (" + ::strsignal(signaled->signal) + ")";
  if (const auto* late = std::get_if<TimedOut>(&state)) return "time-out after " + HumanSeconds(late->after_s);
  return "stopped";
}

Result<std::unique_ptr<Subprocess>> Subprocess::Start(ProcessOptions options) {
  if (options.argv.empty()) return Error{ErrorKind::kInternal, "a process without a program"};
  std::unique_ptr<Subprocess> process(new Subprocess(std::move(options)));
  ProcessOptions& o = process->options_;
  std::vector<std::string> environment = BuildEnvironment(o.environment);
  std::vector<std::string> argv_texts = o.argv;
  const std::vector<char*> argv = Pointers(argv_texts), envp = Pointers(environment);

  FLCE_TRY(Stream out, OpenStream(o.stdout_file));
  Stream err;
  if (!o.inherit_stderr) {
    Result<Stream> opened = OpenStream(o.stderr_file);
    if (!opened) {
      Close(out.parent), Close(out.child);
      return opened.error();
    }
    err = *opened;
  }
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return Error{ErrorKind::kIo, std::string("cannot create a pipe: ") + std::strerror(errno)};

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) ChildMain(o, argv.data(), envp.data(), out.child, err.child, report[1], parent);
  const int fork_error = errno;
  Close(out.child), Close(err.child), Close(report[1]);
  process->out_fd_ = out.parent;
  process->err_fd_ = err.parent;
  if (pid < 0) {
    Close(report[0]);
    return Error{ErrorKind::kEnvironment, std::string("cannot start a process: ") + std::strerror(fork_error)};
  }
  ::setpgid(pid, pid);  // in both processes: whoever runs first
  int child_error = 0;
  ssize_t got;
  while ((got = ::read(report[0], &child_error, sizeof child_error)) < 0 && errno == EINTR) {
  }
  Close(report[0]);
  if (got > 0) {
    ::waitpid(pid, nullptr, 0);
    return Error{ErrorKind::kEnvironment, "cannot run " + o.argv[0] + ": " + std::strerror(child_error)};
  }
  process->pid_ = pid;
  process->started_ = Now();
  process->pid_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  return process;
}

Subprocess::~Subprocess() {
  if (pid_ > 0 && !finished()) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Close(pid_fd_), Close(out_fd_), Close(err_fd_);
}

void Subprocess::Stop() {
  if (finished() || terminated_at_ >= 0) return;
  stopped_ = true;
  terminated_at_ = Now();
  ::kill(-pid_, SIGTERM);
}

void Subprocess::Pump(int& fd, std::string& sink, bool is_stderr) {
  char buffer[1 << 14];
  while (fd >= 0) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) {
      const std::string_view piece(buffer, static_cast<size_t>(got));
      if (sink.size() < options_.capture_limit) sink += piece.substr(0, options_.capture_limit - sink.size());
      if (is_stderr && options_.on_stderr) options_.on_stderr(piece);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) Close(fd);
    return;
  }
}

void Subprocess::Advance() {
  Pump(out_fd_, partial_.out, false);
  Pump(err_fd_, partial_.err, true);
  int status = 0;
  ::rusage usage{};
  if (::wait4(pid_, &status, WNOHANG, &usage) == pid_) return Finish(status, usage);
  const double now = Now();
  if (terminated_at_ < 0 && options_.deadline_s > 0 && now - started_ >= options_.deadline_s) {
    timed_out_ = true;
    terminated_at_ = now;
    ::kill(-pid_, SIGTERM);
  }
  if (terminated_at_ >= 0 && !killed_ && now - terminated_at_ >= options_.grace_s) {
    killed_ = true;
    ::kill(-pid_, SIGKILL);
  }
}

void Subprocess::Finish(int wait_status, const ::rusage& usage) {
  ::kill(-pid_, SIGKILL);  // helpers that outlived their parent
  Pump(out_fd_, partial_.out, false);
  Pump(err_fd_, partial_.err, true);
  Close(pid_fd_), Close(out_fd_), Close(err_fd_);
  const double now = Now();
  partial_.seconds = now - started_;
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  partial_.user_s = seconds(usage.ru_utime);
  partial_.system_s = seconds(usage.ru_stime);
  partial_.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  if (timed_out_) {
    partial_.state = TimedOut{options_.deadline_s};
  } else if (stopped_) {
    partial_.state = Stopped{};
  } else if (WIFSIGNALED(wait_status)) {
    partial_.state = Signaled{WTERMSIG(wait_status)};
  } else {
    partial_.state = Exited{WEXITSTATUS(wait_status)};
  }
  result_ = std::move(partial_);
}

double Subprocess::NextWakeUp() const {
  double at = 1e300;
  if (terminated_at_ < 0 && options_.deadline_s > 0) at = started_ + options_.deadline_s;
  if (terminated_at_ >= 0 && !killed_) at = terminated_at_ + options_.grace_s;
  return at;
}

std::vector<Subprocess*> ProcessSet::Wait(double wait_s) {
  const double until = Now() + wait_s;
  for (;;) {
    if (Interrupt::Requested())
      for (Subprocess* child : children_) child->Stop();
    std::vector<Subprocess*> finished;
    for (Subprocess* child : children_) {
      child->Advance();
      if (child->finished()) finished.push_back(child);
    }
    if (!finished.empty()) {
      std::erase_if(children_, [](const Subprocess* child) { return child->finished(); });
      return finished;
    }
    double wake = until;
    std::vector<pollfd> fds;
    for (const Subprocess* child : children_) {
      wake = std::min(wake, child->NextWakeUp());
      // A kernel without pidfd (before 5.3, some sandboxes) is asked again every 20 ms instead.
      if (child->pid_fd_ < 0) wake = std::min(wake, Now() + 0.02);
      for (int fd : {child->pid_fd_, child->out_fd_, child->err_fd_})
        if (fd >= 0) fds.push_back({fd, POLLIN, 0});
    }
    if (!Interrupt::Requested() && Interrupt::Descriptor() >= 0) fds.push_back({Interrupt::Descriptor(), POLLIN, 0});
    const double left = wake - Now();
    if (left > 0 || fds.empty()) {
      const int milliseconds = static_cast<int>(std::clamp(left * 1000 + 1, 0.0, 60000.0));
      (void)::poll(fds.data(), fds.size(), milliseconds);
    }
    if (Now() >= until) {
      for (Subprocess* child : children_) {
        child->Advance();
        if (child->finished()) finished.push_back(child);
      }
      std::erase_if(children_, [](const Subprocess* child) { return child->finished(); });
      return finished;
    }
  }
}

Result<ProcessResult> RunProcess(ProcessOptions options) {
  FLCE_TRY(std::unique_ptr<Subprocess> child, Subprocess::Start(std::move(options)));
  ProcessSet set;
  set.Add(child.get());
  while (set.size() > 0) (void)set.Wait(3600);
  return child->result();
}

void Interrupt::Install() {
  if (g_interrupt_pipe[0] < 0 && ::pipe2(g_interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool Interrupt::Requested() { return g_interrupted != 0; }
int Interrupt::Descriptor() { return g_interrupt_pipe[0]; }

void Interrupt::ResetForTest() {
  g_interrupted = 0;
  char byte;
  while (g_interrupt_pipe[0] >= 0 && ::read(g_interrupt_pipe[0], &byte, 1) > 0) {
  }
}

}  // namespace flce
