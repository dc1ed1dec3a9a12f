#pragma once

#include <map>

#include "harness/provision/provisioner.h"

namespace flce {

/// What the interpreter says of itself.
struct PythonFacts {
  std::string version;  ///< "3.11.2"
  std::string tag;      ///< "cp311"
  std::string include;  ///< where Python.h should be
  bool has_headers = false;
};

/// State shared by the parts of the provisioner; not for users of the library.
struct Provisioner::Impl {
  ProvisionOptions options;
  ProvisionData data;
  std::string stub_key;  ///< identity of generator and rules
  std::unique_ptr<SystemRunner> own_runner;
  ProcessRunner* runner = nullptr;
  PackageIndex* index = nullptr;  ///< null: uv
  Clock* clock = nullptr;
  std::unique_ptr<Uv> uv;
  std::optional<PythonFacts> python;
  std::string note;

  Status SetUp();
  Result<PythonFacts> Python();
  /// uv with this run's options; kEnvironment when it is nowhere to be found.
  Result<Uv*> GetUv();
  Result<Catalogue> MakeCatalogue(const ReleaseSource& source, bool every_patch, std::function<std::vector<std::string>()> installed);
  template <typename T>
  Result<T> Ask(const ReleaseSource& source, bool every_patch, std::function<std::vector<std::string>()> installed,
                const std::function<Result<T>(Catalogue&)>& question);

  /// "-x1a2b3c4d" when packages come from elsewhere than usual, so that two sources never share an environment.
  std::string SourceSuffix() const;
  Result<std::string> EnvironmentId(const std::string& version, Flavour flavour);
  std::vector<std::string> InstalledTorch(Flavour flavour);
  std::vector<std::string> InstalledLiger() const;

  Result<FileLock> Lock(const std::string& id, const std::string& subject);
  void Report(const std::string& subject, const std::string& stage, uint64_t done = 0, uint64_t total = 0) const;
  Status CheckSpace(Flavour flavour, const std::string& subject) const;

  Result<Environment> ProvideTorch(const std::string& version, Flavour flavour);
  Result<Environment> Install(const std::string& id, const std::string& version, Flavour flavour, const std::string& subject);
  Status EnsureStubs(Environment& environment, const std::string& subject);
  Result<Environment> Finish(Environment environment);
  /// Packages as plain folders below `building`, made anew, with the requirements.txt that installs them; a failure
  /// leaves nothing.
  Status InstallFolder(const std::vector<LockedPackage>& packages, const fs::path& building, const std::string& subject);
  /// Writes the stamp, last of all, and moves the folder to its name.
  Status Publish(const fs::path& building, const fs::path& root, const nlohmann::ordered_json& stamp) const;
  Result<LigerTree> ProvideLigerRelease(const std::string& version);
  Result<PackageFolder> ProvidePackages(const std::vector<std::string>& packages, const Environment& environment);
};

}  // namespace flce
