#include "harness/cli/supply.h"

#include "harness/base/text.h"

namespace flce {
namespace {

/// The remembered value, or what `make` gives now.
template <typename T, typename F>
Result<const T*> Remember(std::map<std::string, Result<T>>& known, const std::string& key, F make) {
  auto it = known.find(key);
  if (it == known.end()) it = known.emplace(key, make()).first;
  if (!it->second) return it->second.error();
  return &*it->second;
}

}  // namespace

Result<const Environment*> Supply::EnvironmentOf(const std::string& torch) {
  return Remember(environments_, torch, [&] {
    return external_python_.empty() ? provisioner_.ProvideTorch(torch, flavour_) : provisioner_.ProvideExternal(external_python_);
  });
}

Result<const LigerTree*> Supply::LigerOf(const std::string& version_or_path) {
  return Remember(ligers_, version_or_path, [&] { return provisioner_.ProvideLiger(version_or_path); });
}

Result<CellSupply> Supply::For(const Cell& cell) {
  CellSupply supply;
  // Liger first: a release that does not exist is told before gigabytes of torch are fetched.
  FLCE_TRY(supply.liger, LigerOf(cell.liger));
  FLCE_TRY(supply.environment, EnvironmentOf(cell.torch));
  FLCE_TRY(const CaseFile* file, cases_.Find(cell.case_name));
  // A user's environment is used as it is: what it lacks there, the case says.
  if (!file->packages.empty() && external_python_.empty()) {
    FLCE_TRY(supply.packages, Remember(packages_, cell.torch + "\n" + Join(file->packages, "\n"),
                                       [&] { return provisioner_.ProvidePackages(file->packages, *supply.environment); }));
  }
  const std::string key = cell.fix + "\n" + cell.torch + "\n" + cell.liger;
  FLCE_TRY(supply.overlay, Remember(overlays_, key, [&]() -> Result<FixOverlay> {
             FLCE_TRY(const FixDescription fix, FindFix(cell.fix, cases_dir_));
             return provisioner_.ProvideFix(fix, *supply.liger, *supply.environment);
           }));
  return supply;
}

}  // namespace flce
