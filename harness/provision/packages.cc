#include "harness/provision/packages.h"

#include <nlohmann/json.hpp>

#include "harness/base/sha256.h"
#include "harness/base/text.h"
#include "harness/provision/provisioner_impl.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kStampFormat = 1;

std::string NameOf(const std::string& package) { return package.substr(0, package.find("==")); }

/// The folder if its stamp is whole, for these packages, and its Python files are still those that were stamped.
bool Load(PackageFolder& folder) {
  const Result<std::string> text = ReadFile(folder.root / "stamp.json");
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object() || json.value("format", 0) != kStampFormat || json.value("packages", Json()) != Json(folder.packages)) return false;
  const Result<std::string> tree = HashPythonTree(folder.root);
  if (!tree || *tree != json.value("tree_sha256", "")) return false;
  folder.lock_sha256 = json.value("lock_sha256", "");
  return true;
}

}  // namespace

Result<PackageFolder> Provisioner::ProvidePackages(const std::vector<std::string>& packages, const Environment& environment) {
  return impl_->ProvidePackages(packages, environment);
}

Result<PackageFolder> Provisioner::Impl::ProvidePackages(const std::vector<std::string>& packages, const Environment& environment) {
  PackageFolder folder;
  for (const std::string& package : packages)
    if (DistributionVersion(environment.site_packages, NameOf(package)).empty()) folder.packages.push_back(package);
  folder.reused = true;
  if (folder.packages.empty()) return folder;
  FLCE_TRY(const PythonFacts facts, Python());
  const std::string first = ReplaceAll(folder.packages.front(), "==", "-"), list = Join(folder.packages, " ");
  const std::string key = first + "-" + facts.tag + "-" + Sha256Hex(list).substr(0, 8) + SourceSuffix();
  const size_t more = folder.packages.size() - 1;
  const std::string subject = ReplaceAll(folder.packages.front(), "==", " ") + (more > 0 ? " with " + std::to_string(more) + (more > 1 ? " packages" : " package") : "");
  FLCE_TRY(const FileLock lock, Lock("packages-" + key, subject));
  folder.root = options.state_dir / "packages" / key;
  if (Load(folder)) return folder;

  FLCE_TRY_DO(RemoveTree(folder.root));
  FLCE_TRY(Uv* const tool, GetUv());
  Report(subject, "resolving");
  Result<std::vector<LockedPackage>> locked = tool->Resolve({folder.packages, {}, false, subject});
  const fs::path building = options.state_dir / "packages" / (".building-" + key);
  const Status installed = locked ? InstallFolder(*locked, building, subject) : Status(locked.error());
  if (!installed) {
    Error error = installed.error();
    if (options.offline)
      return Error{ErrorKind::kEnvironment, subject + " is not installed and --offline forbids to fetch it; run the same command once without --offline"};
    if (error.kind == ErrorKind::kNotFound) error.message += "; the case names " + list;
    return error;
  }
  folder.lock_sha256 = LockDigest(*locked);
  FLCE_TRY(const std::string tree, HashPythonTree(building));
  const Json stamp = {{"format", kStampFormat}, {"packages", folder.packages}, {"lock_sha256", folder.lock_sha256}, {"tree_sha256", tree}};
  FLCE_TRY_DO(Publish(building, folder.root, stamp));
  folder.reused = false;
  Report(subject, "ready");
  return folder;
}

}  // namespace flce
