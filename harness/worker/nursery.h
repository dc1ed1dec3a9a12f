#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/worker/zygote_protocol.h"

namespace flce::worker {

/// The forked children of this process, each the leader of a process group of its own: their ends, deadlines and memory
/// limits. A child's whole group is killed when it ends, however it ends.
class Nursery {
 public:
  Nursery() = default;
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  /// Kills what still runs.
  ~Nursery();

  /// `deadline_s` from now, 0: none. `memory_bytes` resident, 0: no limit.
  void Adopt(pid_t pid, std::string cell_id, double deadline_s, uint64_t memory_bytes);
  bool Cancel(const std::string& cell_id);
  size_t size() const { return children_.size(); }

  /// Appends what poll(2) must watch, and lowers `timeout_ms` (-1: none) to the next moment that needs Reap.
  void Prepare(std::vector<pollfd>* watched, int* timeout_ms) const;
  /// Kills what is over a limit; returns the children that have ended, with their use of resources.
  std::vector<CellEnd> Reap();

 private:
  struct Child {
    pid_t pid;
    int pid_fd;
    std::string cell_id;
    double started, deadline;  ///< monotonic; deadline 0: none
    uint64_t memory_bytes;
    CellEnd::Kind killed_as = CellEnd::Kind::kCode;  ///< why this process killed it; kCode: it did not
  };
  static void Kill(Child& child, CellEnd::Kind why);
  std::vector<Child> children_;
};

/// In a freshly forked child: a group of its own, and no life after the parent's.
void BecomeGroupLeader(pid_t parent);
/// Seconds on the clock of deadlines.
double MonotonicNow();

}  // namespace flce::worker
