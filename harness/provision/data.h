#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// A package whose releases are an axis of the matrix.
struct ReleaseSource {
  std::string package;          ///< name on the index
  std::string nightly_package;  ///< name under which nightlies are published
  std::string oldest;           ///< where "all" begins
};

/// Which stub library a symbol without a library name of its own belongs to, and what a stub function returns.
struct StubRule {
  std::string library;               ///< "libcublas.so": begins the SONAME
  std::vector<std::string> symbols;  ///< shell patterns
  int failure = 1;                   ///< the library's own status for "not supported"
};

/// cases/provision.json: what provisioning has to know and no package's metadata says.
struct ProvisionData {
  ReleaseSource torch, liger;
  std::vector<std::string> always;           ///< packages added to every environment
  std::vector<std::string> nvidia_packages;  ///< shell patterns of what a lean environment leaves out
  uint64_t lean_bytes = 0, full_bytes = 0;   ///< disk space an installation needs, nothing cached
  std::vector<StubRule> stubs;               ///< first match wins
  std::vector<std::string> text_results;     ///< functions that return a text (a stub's must not crash the caller)
};

/// kData with file and field when malformed or of another format.
Result<ProvisionData> LoadProvisionData(const fs::path& file);

/// Shell pattern match ("nvidia-*").
bool MatchesAny(const std::vector<std::string>& patterns, const std::string& text);

}  // namespace flce
