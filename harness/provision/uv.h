#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/provision/index.h"
#include "harness/provision/lock.h"
#include "harness/provision/runner.h"

namespace flce {

struct UvOptions {
  fs::path uv;      ///< the program
  fs::path python;  ///< interpreter that environments are made with
  fs::path cache_dir;
  fs::path log_file;  ///< every call's command and output is appended
  std::string torch_index;
  std::vector<std::string> find_links;
  bool offline = false;
};

/// What is to be resolved.
struct ResolveRequest {
  std::vector<std::string> requirements;
  /// Shell patterns of names left out, with what only they need. They need not be on the index at all.
  std::vector<std::string> without;
  bool dependencies = true;
  std::string what;  ///< "torch 2.13.0", for messages
};

/// uv, the one thing that talks to package indexes. Its failures become errors of one line, with the log's name:
/// kNotFound (no such release, none for this interpreter), kEnvironment (network, disk, hash, permission).
class Uv : public PackageIndex {
 public:
  using OnBytes = std::function<void(uint64_t)>;
  Uv(ProcessRunner& runner, UvOptions options) : runner_(runner), options_(std::move(options)) {}

  Result<std::optional<std::string>> Find(const IndexQuery& query) override;
  Result<std::vector<LockedPackage>> Resolve(const ResolveRequest& request);
  /// A relocatable environment without packages.
  Status MakeEnvironment(const fs::path& dir);
  /// Installs exactly the files of `requirements` (hashes required, no dependencies) into an environment's interpreter
  /// or, when `target` is not empty, as plain folders. `on_bytes` hears how many bytes uv has written so far.
  Status Install(const fs::path& requirements, const fs::path& python, const fs::path& target, const std::string& what,
                 const OnBytes& on_bytes);

  const UvOptions& options() const { return options_; }

 private:
  Result<ProcessResult> Run(std::vector<std::string> arguments, const std::string& what, const std::function<void(pid_t)>& tick);
  Result<ProcessResult> Compile(const std::vector<std::string>& requirements, std::vector<std::string> extra,
                                const std::vector<std::string>& excludes, const std::string& what);
  Error Explain(const ProcessResult& result, const std::string& what) const;

  ProcessRunner& runner_;
  UvOptions options_;
};

/// What uv's error output means, without the log's name; exposed for tests.
Error ExplainUvFailure(std::string_view output, const std::string& what, const UvOptions& options);

}  // namespace flce
