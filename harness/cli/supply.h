#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/cli/locations.h"
#include "harness/model/cell.h"
#include "harness/plan/case_catalogue.h"
#include "harness/provision/provisioner.h"

namespace flce {

/// What one cell needs from disk.
struct CellSupply {
  const Environment* environment = nullptr;
  const LigerTree* liger = nullptr;
  const FixOverlay* overlay = nullptr;
  const PackageFolder* packages = nullptr;  ///< null: the case names none, or the environment is the user's
};

/// Provides environments, Liger trees, packages and overlays, each once, and remembers failures too: a release that cannot be
/// installed is asked for once, not once a cell.
class Supply {
 public:
  /// `cases` outlives it.
  Supply(Provisioner& provisioner, const CaseCatalogue& cases, fs::path cases_dir, Flavour flavour, fs::path external_python)
      : provisioner_(provisioner), cases_(cases), cases_dir_(std::move(cases_dir)), flavour_(flavour), external_python_(std::move(external_python)) {}

  Result<CellSupply> For(const Cell& cell);
  Result<const Environment*> EnvironmentOf(const std::string& torch);
  Result<const LigerTree*> LigerOf(const std::string& version_or_path);

 private:
  Provisioner& provisioner_;
  const CaseCatalogue& cases_;
  fs::path cases_dir_;
  Flavour flavour_;
  fs::path external_python_;
  std::map<std::string, Result<Environment>> environments_;
  std::map<std::string, Result<LigerTree>> ligers_;
  std::map<std::string, Result<PackageFolder>> packages_;
  std::map<std::string, Result<FixOverlay>> overlays_;
};

}  // namespace flce
