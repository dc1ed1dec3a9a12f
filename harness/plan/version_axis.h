#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// How fine an axis is walked when a range or `all` is asked for. A version that is named is always taken as it is.
enum class Granularity {
  kMinor,  ///< the newest patch release of each minor one (torch)
  kPatch,  ///< every release (Liger)
};

/// The releases that `expressions` select from `known` (exact versions, any order), ascending and each once:
///   "2.13.0"   that release            "2.13"            the newest release that begins so
///   "2.8..2.15" both ends included     ">=2.8,<2.13"     a version range
///   "all"      every one               "newest"          the newest that is no pre-release
/// An expression that selects nothing is kNotFound in one line with the nearest known versions. `what` names the axis
/// ("torch"). Pre-releases are taken only when named.
Result<std::vector<std::string>> ExpandVersions(const std::vector<std::string>& expressions, const std::vector<std::string>& known,
                                                Granularity granularity, std::string_view what);

/// The newest patch release of each minor release, ascending.
std::vector<std::string> NewestOfEachMinor(const std::vector<std::string>& versions);

/// True for an expression that only a list of releases can answer ("2.8..2.15", ">=2.8", "all", "newest", "2.13");
/// false for a full release number.
bool NeedsReleaseList(std::string_view expression);

}  // namespace flce
