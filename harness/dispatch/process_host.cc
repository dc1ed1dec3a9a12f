#include "harness/dispatch/process_host.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace flce {
namespace {

/// The process group of /proc/<pid>/stat: the third field after the parenthesised name, which may itself hold ')'.
pid_t GroupOf(const std::string& stat) {
  const size_t close = stat.rfind(')');
  char state = 0;
  int parent = 0, group = -1;
  if (close == std::string::npos || std::sscanf(stat.c_str() + close + 1, " %c %d %d", &state, &parent, &group) != 3) return -1;
  return group;
}

}  // namespace

uint64_t GroupResidentBytes(pid_t group) {
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return 0;
  uint64_t pages = 0;
  while (const dirent* entry = ::readdir(proc)) {
    int pid = 0;
    const std::string_view name(entry->d_name);
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    const Result<std::string> stat = ReadFile("/proc/" + std::string(name) + "/stat", 1 << 16);
    if (!stat || GroupOf(*stat) != group) continue;
    const Result<std::string> statm = ReadFile("/proc/" + std::string(name) + "/statm", 1 << 16);
    unsigned long long total = 0, resident = 0, shared = 0;
    // Shared pages (libraries, what a fork has not touched) are counted for nobody: a limit is about what a cell adds.
    if (statm && std::sscanf(statm->c_str(), "%llu %llu %llu", &total, &resident, &shared) == 3)
      pages += resident > shared ? resident - shared : 0;
  }
  ::closedir(proc);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

LocalProcessHost::~LocalProcessHost() = default;

Result<int> LocalProcessHost::Start(ProcessOptions options) {
  FLCE_TRY(std::unique_ptr<Subprocess> child, Subprocess::Start(std::move(options)));
  set_.Add(child.get());
  children_.emplace_back(next_, std::move(child));
  return next_++;
}

std::vector<std::pair<int, ProcessResult>> LocalProcessHost::Wait(double wait_s) {
  std::vector<std::pair<int, ProcessResult>> ended;
  if (children_.empty()) return ended;
  (void)set_.Wait(wait_s);
  for (const auto& [handle, child] : children_)
    if (child->finished()) ended.emplace_back(handle, child->result());
  std::erase_if(children_, [](const auto& entry) { return entry.second->finished(); });
  return ended;
}

void LocalProcessHost::Stop(int handle) {
  for (const auto& [number, child] : children_)
    if (number == handle) child->Stop();
}

uint64_t LocalProcessHost::ResidentBytes(int handle) {
  for (const auto& [number, child] : children_)
    if (number == handle && !child->finished()) return GroupResidentBytes(child->pid());
  return 0;
}

}  // namespace flce
