#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/provision/data.h"

namespace flce {

/// One question to a package index.
struct IndexQuery {
  std::string package;
  std::string constraint;    ///< ">=2.8,<2.9"; empty: any
  bool oldest = false;       ///< the lowest instead of the highest release
  bool pre_releases = false;
};

/// What releases there are: the edge at which tests put a list.
class PackageIndex {
 public:
  virtual ~PackageIndex() = default;
  /// The version that answers the query among those installable here; nullopt when none does.
  virtual Result<std::optional<std::string>> Find(const IndexQuery& query) = 0;
};

/// "torch 2.9.1 is not installed and --offline forbids to fetch it; ... (installed: 2.13.0)".
Error MissingOffline(const std::string& subject, const std::vector<std::string>& installed);

/// Resolves what people write: "newest", "nightly", "2.13" (its newest patch release), "2.13.0", "2.8..2.15" (the
/// newest patch release of each minor), "all". Answers of the index are kept for an hour in `cache_file`, and serve
/// beyond that when the index cannot be reached; `installed` lists what is there and answers when `offline`.
class Catalogue {
 public:
  struct Options {
    fs::path cache_file;
    std::string cache_key;  ///< what else the answers depend on (interpreter, index)
    bool offline = false;
    bool every_patch = false;  ///< ranges give every release (Liger) instead of the newest of each minor (torch)
    std::function<std::vector<std::string>()> installed;
  };
  /// `index` is not asked, and may be null, when offline.
  Catalogue(PackageIndex* index, ReleaseSource source, Options options, int64_t now_s);

  /// One version. kNotFound names the nearest known releases, kEnvironment says why the index did not answer.
  Result<std::string> Resolve(const std::string& spec);
  /// As Resolve, for a range too; oldest first.
  Result<std::vector<std::string>> Expand(const std::string& spec);
  /// "no torch 2.99 ...; nearest: 2.15.0 (the newest before)".
  Error Unknown(const std::string& version);
  /// "" when the last answer is current, else a line to show ("index not reachable, ...").
  const std::string& note() const { return note_; }

 private:
  Result<std::optional<std::string>> Ask(const IndexQuery& query);
  std::optional<std::string> FindInstalled(const IndexQuery& query) const;
  Result<std::vector<std::string>> Walk(const std::string& from, const std::string& to);

  PackageIndex* index_;
  ReleaseSource source_;
  Options options_;
  int64_t now_s_;
  std::string note_;
};

}  // namespace flce
