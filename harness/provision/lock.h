#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// One file that an environment is made of.
struct LockedPackage {
  std::string name, version;
  std::string file;    ///< wheel file name
  std::string url;     ///< where it came from
  std::string sha256;  ///< of that file
  uint64_t size = 0;   ///< bytes to fetch; 0 when the index does not say

  bool operator==(const LockedPackage&) const = default;
};

/// The packages of uv's `pylock.toml` output, one wheel each (uv names the one that fits the interpreter). A package
/// without a wheel, or a wheel without a hash, is kData: what cannot be verified is not installed.
Result<std::vector<LockedPackage>> ParsePylock(std::string_view toml);

/// Lines "name==version --hash=sha256:..." for `uv pip install --require-hashes --no-deps -r`.
std::string RequirementsText(const std::vector<LockedPackage>& packages);
/// The identity of the set: SHA-256 of RequirementsText.
std::string LockDigest(const std::vector<LockedPackage>& packages);

nlohmann::ordered_json LockToJson(const std::vector<LockedPackage>& packages);
/// kData when it is not what LockToJson wrote.
Result<std::vector<LockedPackage>> LockFromJson(const nlohmann::ordered_json& json);

}  // namespace flce
