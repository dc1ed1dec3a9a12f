#include "harness/worker/nursery.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace flce::worker {
namespace {

// How often memory is looked at, and ends are looked for where the kernel gives no descriptor for a process.
constexpr int kTickMs = 100;

uint64_t ResidentBytes(pid_t pid) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/statm", static_cast<int>(pid));
  FILE* file = fopen(name, "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0, shared = 0;
  int fields = fscanf(file, "%llu %llu %llu", &total, &resident, &shared);
  fclose(file);
  return fields == 3 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

double MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void BecomeGroupLeader(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
}

Nursery::~Nursery() {
  for (Child& child : children_) {
    Kill(child, CellEnd::Kind::kCancelled);
    waitpid(child.pid, nullptr, 0);
    if (child.pid_fd >= 0) close(child.pid_fd);
  }
}

void Nursery::Adopt(pid_t pid, std::string cell_id, double deadline_s, uint64_t memory_bytes) {
  setpgid(pid, pid);  // the child does it too; whoever comes first
  double now = MonotonicNow();
  int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  children_.push_back({pid, pid_fd, std::move(cell_id), now, deadline_s > 0 ? now + deadline_s : 0, memory_bytes});
}

void Nursery::Kill(Child& child, CellEnd::Kind why) {
  if (child.killed_as == CellEnd::Kind::kCode) child.killed_as = why;
  kill(-child.pid, SIGKILL);
  kill(child.pid, SIGKILL);
}

bool Nursery::Cancel(const std::string& cell_id) {
  for (Child& child : children_) {
    if (child.cell_id != cell_id) continue;
    Kill(child, CellEnd::Kind::kCancelled);
    return true;
  }
  return false;
}

void Nursery::Prepare(std::vector<pollfd>* watched, int* timeout_ms) const {
  auto lower = [&](int wait) { *timeout_ms = *timeout_ms < 0 ? wait : std::min(*timeout_ms, wait); };
  for (const Child& child : children_) {
    if (child.pid_fd >= 0) watched->push_back({child.pid_fd, POLLIN, 0});
    if (child.pid_fd < 0 || child.memory_bytes > 0) lower(kTickMs);
    if (child.deadline > 0) {
      double left = std::clamp(child.deadline - MonotonicNow(), 0.0, 1e6);
      lower(static_cast<int>(std::ceil(left * 1e3)));
    }
  }
}

std::vector<CellEnd> Nursery::Reap() {
  std::vector<CellEnd> ends;
  double now = MonotonicNow();
  for (size_t i = 0; i < children_.size();) {
    Child& child = children_[i];
    siginfo_t info{};
    // First only look: while the child is a zombie its number, which is its group's too, cannot be anyone else's.
    if (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
      if (child.deadline > 0 && now >= child.deadline) {
        Kill(child, CellEnd::Kind::kTimedOut);
        child.deadline = 0;
      } else if (child.memory_bytes > 0 && ResidentBytes(child.pid) > child.memory_bytes) {
        Kill(child, CellEnd::Kind::kOutOfMemory);
      }
      ++i;
      continue;
    }
    kill(-child.pid, SIGKILL);  // helpers that it left behind
    int status = 0;
    rusage usage{};
    wait4(child.pid, &status, 0, &usage);
    CellEnd end;
    end.cell_id = child.cell_id;
    end.seconds = now - child.started;
    end.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    bool signalled = WIFSIGNALED(status);
    end.value = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    end.kind = signalled ? CellEnd::Kind::kSignal : CellEnd::Kind::kCode;
    // A cell that ended by itself at the last moment did end by itself.
    if (signalled && end.value == SIGKILL && child.killed_as != CellEnd::Kind::kCode) end.kind = child.killed_as;
    if (child.pid_fd >= 0) close(child.pid_fd);
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace flce::worker
