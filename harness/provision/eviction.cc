#include <sys/stat.h>

#include <algorithm>

#include "harness/provision/provisioner_impl.h"

namespace flce {

std::vector<UsedEnvironment> Provisioner::UsedEnvironments() const {
  std::vector<UsedEnvironment> found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(impl_->options.state_dir / "envs", code)) {
    if (!entry.is_directory(code)) continue;
    UsedEnvironment used;
    used.id = entry.path().filename().string();
    used.root = entry.path();
    if (const std::optional<Environment> environment = LoadStamp(entry.path())) {
      used.complete = true;
      used.torch_version = environment->torch_version;
    }
    used.bytes = StampedBytes(entry.path());
    struct stat info {};
    if (::stat((entry.path() / "used").c_str(), &info) == 0 || ::stat(entry.path().c_str(), &info) == 0) used.last_used_s = info.st_mtime;
    found.push_back(std::move(used));
  }
  std::sort(found.begin(), found.end(), [](const UsedEnvironment& a, const UsedEnvironment& b) {
    return a.last_used_s != b.last_used_s ? a.last_used_s < b.last_used_s : a.id < b.id;
  });
  return found;
}

// An environment's own lock keeps out a run that is installing it, its use lock one that holds it. Removal renames
// first, so that a kill in the middle leaves nothing under a trusted name.
Result<std::vector<std::string>> Provisioner::Evict(uint64_t max_bytes) {
  std::vector<UsedEnvironment> all = UsedEnvironments();
  uint64_t total = 0;
  for (const UsedEnvironment& used : all) total += used.bytes;
  std::vector<std::string> removed;
  for (const UsedEnvironment& used : all) {
    if (used.complete && total <= max_bytes) continue;
    std::string id = used.id;
    for (const std::string prefix : {".building-", ".removing-"})
      if (id.rfind(prefix, 0) == 0) id = id.substr(prefix.size());
    const fs::path locks = impl_->options.state_dir / "locks";
    FLCE_TRY(const std::optional<FileLock> lock, FileLock::TryAcquire(locks / (id + ".lock")));
    if (!lock) continue;
    FLCE_TRY(const std::optional<FileLock> use, FileLock::TryAcquire(locks / (id + ".use")));
    if (!use) continue;
    const fs::path doomed = used.root.parent_path() / (".removing-" + id);
    std::error_code code;
    if (used.root != doomed) {
      FLCE_TRY_DO(RemoveTree(doomed));
      fs::rename(used.root, doomed, code);
      if (code) return Error{ErrorKind::kIo, "cannot remove " + used.root.string() + ": " + code.message()};
    }
    FLCE_TRY_DO(RemoveTree(doomed));
    total -= std::min(total, used.bytes);
    removed.push_back(used.id);
  }
  return removed;
}

}  // namespace flce
