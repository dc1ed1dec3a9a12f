#include "harness/cli/locations.h"

#include <unistd.h>

#include <cstdlib>

namespace flce {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path StateFolder() {
  if (const std::string home = Variable("FLCE_REPRO_HOME"); !home.empty()) return fs::absolute(home);
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "flce-repro";
  if (const std::string home = Variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "flce-repro";
  return fs::temp_directory_path() / ("flce-repro-" + std::to_string(::getuid()));
}

bool HoldsData(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "cases" / "signatures.json", ignored);
}

}  // namespace

Result<Locations> FindLocations() {
  std::error_code code;
  const fs::path executable = fs::read_symlink("/proc/self/exe", code);
  if (code) return Error{ErrorKind::kEnvironment, "cannot find this program's own path: /proc is not mounted"};
  Locations found;
  found.binaries = executable.parent_path();
  if (const std::string root = Variable("FLCE_REPRO_ROOT"); !root.empty()) {
    if (!HoldsData(root)) return Error{ErrorKind::kUsage, "FLCE_REPRO_ROOT=" + root + ": holds no cases/signatures.json"};
    found.root = root;
  } else {
    fs::path folder = found.binaries;
    while (!HoldsData(folder) && folder.has_relative_path()) folder = folder.parent_path();
    if (!HoldsData(folder))
      return Error{ErrorKind::kEnvironment, "no cases/ beside " + executable.string() + ": run it from a checkout, or set FLCE_REPRO_ROOT to one"};
    found.root = folder;
  }
  found.worker = found.binaries / "flce-worker";
  found.numerics = found.binaries / "flce-numerics";
  found.emulator = found.binaries.parent_path() / "lib" / "libflce_emulated_cuda.so";
  found.state = StateFolder();
  return found;
}

Status PrepareState(const Locations& locations) {
  const auto hint = [&](const std::string& message) {
    return Error{ErrorKind::kIo, message + "; set FLCE_REPRO_HOME to a folder that can be written"};
  };
  for (const fs::path& folder : {locations.state, locations.runs()})
    if (Status made = MakeDirectories(folder); !made) return hint("state directory: " + made.error().message);
  const fs::path probe = locations.state / (".probe-" + std::to_string(::getpid()));
  if (Status written = WriteFileAtomically(probe, "x"); !written) return hint("state directory " + locations.state.string() + ": " + written.error().message);
  std::error_code ignored;
  fs::remove(probe, ignored);
  return Done{};
}

}  // namespace flce
