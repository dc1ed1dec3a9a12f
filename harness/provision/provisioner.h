#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/provision/data.h"
#include "harness/provision/environment.h"
#include "harness/provision/fixes.h"
#include "harness/provision/index.h"
#include "harness/provision/liger.h"
#include "harness/provision/packages.h"
#include "harness/provision/uv.h"

namespace flce {

/// Where an installation stands, for a person. `done` and `total` are bytes; both 0 when nothing is counted. While uv
/// fetches, `done` is estimated from what it has unpacked.
struct Progress {
  std::string subject;  ///< "torch 2.13.0 (lean)"
  std::string stage;    ///< "resolving", "waiting for another run", "fetching 14 packages", "building stub libraries", "ready"
  uint64_t done = 0, total = 0;
};

struct ProvisionOptions {
  fs::path state_dir;  ///< StateDirectory()
  fs::path cases_dir;  ///< holds provision.json and fixes/
  fs::path python = "/usr/bin/python3";  ///< interpreter of the environments: of the version that the worker embeds
  std::string torch_index;               ///< further package index, preferred (nightlies, a mirror)
  std::vector<std::string> find_links;   ///< folders or pages with wheels
  bool offline = false;
  std::function<void(const Progress&)> on_progress;  ///< may be empty
};

/// $FLCE_REPRO_HOME, else ${XDG_CACHE_HOME:-$HOME/.cache}/flce-repro; absolute.
fs::path StateDirectory();

/// An environment on disk, for lists and for eviction.
struct UsedEnvironment {
  std::string id, torch_version;
  fs::path root;
  uint64_t bytes = 0;       ///< when stamped; files shared with uv's cache count here
  int64_t last_used_s = 0;  ///< seconds since the epoch
  bool complete = false;    ///< false: left by a killed run, never used
};

/// Makes and finds what cells need. Every method is safe against other processes on the same state directory, and
/// what an interrupted one leaves behind is never trusted.
class Provisioner {
 public:
  /// Reads the data file and makes the state directory; kEnvironment when it cannot be written. Nothing is asked of
  /// the network. `runner`, `index` and `clock` are seams for tests; null: the real ones.
  static Result<std::unique_ptr<Provisioner>> Open(ProvisionOptions options, ProcessRunner* runner = nullptr, PackageIndex* index = nullptr,
                                                   Clock* clock = nullptr);
  ~Provisioner();

  /// See Catalogue. With `offline` the installed environments of that flavour answer.
  Result<std::string> ResolveTorch(const std::string& spec, Flavour flavour = Flavour::kLean);
  Result<std::vector<std::string>> ExpandTorch(const std::string& spec, Flavour flavour = Flavour::kLean);
  /// A release; for the path of a checkout (it holds a '/' or is a folder) the path itself, absolute.
  Result<std::string> ResolveLiger(const std::string& spec);
  Result<std::vector<std::string>> ExpandLiger(const std::string& spec);

  /// `version` exactly ("2.13.0"), as resolved before.
  Result<Environment> ProvideTorch(const std::string& version, Flavour flavour);
  /// The installation that `python` sees. Nothing is installed or changed.
  Result<Environment> ProvideExternal(const fs::path& python);
  /// A release (exactly), or a checkout, which is used where it is.
  Result<LigerTree> ProvideLiger(const std::string& version_or_path);
  /// What a case needs beside torch and Liger, each "name==version"; nothing else is installed. What the environment
  /// has already is left out: the environment's own counts. `environment` is one of ours.
  Result<PackageFolder> ProvidePackages(const std::vector<std::string>& packages, const Environment& environment);
  /// Applies a fix. That it does not fit this Liger or torch is a result (FixOverlay::applies), not an error.
  Result<FixOverlay> ProvideFix(const FixDescription& fix, const LigerTree& liger, const Environment& environment);

  std::vector<UsedEnvironment> UsedEnvironments() const;
  /// Removes least recently used environments, never one in use, until at most `max_bytes` remain; returns their ids.
  Result<std::vector<std::string>> Evict(uint64_t max_bytes);

  /// Something to tell the user once (the index did not answer, known releases are used); "" when nothing.
  const std::string& note() const;
  const ProvisionOptions& options() const;

 private:
  struct Impl;
  explicit Provisioner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace flce
