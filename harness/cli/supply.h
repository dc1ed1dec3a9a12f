#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/cli/locations.h"
#include "harness/model/cell.h"
#include "harness/provision/provisioner.h"

namespace flce {

/// What one cell needs from disk.
struct CellSupply {
  const Environment* environment = nullptr;
  const LigerTree* liger = nullptr;
  const FixOverlay* overlay = nullptr;
};

/// Provides environments, Liger trees and overlays, each once, and remembers failures too: a release that cannot be
/// installed is asked for once, not once a cell.
class Supply {
 public:
  Supply(Provisioner& provisioner, fs::path cases_dir, Flavour flavour, fs::path external_python)
      : provisioner_(provisioner), cases_dir_(std::move(cases_dir)), flavour_(flavour), external_python_(std::move(external_python)) {}

  Result<CellSupply> For(const Cell& cell);
  Result<const Environment*> EnvironmentOf(const std::string& torch);
  Result<const LigerTree*> LigerOf(const std::string& version_or_path);

 private:
  Provisioner& provisioner_;
  fs::path cases_dir_;
  Flavour flavour_;
  fs::path external_python_;
  std::map<std::string, Result<Environment>> environments_;
  std::map<std::string, Result<LigerTree>> ligers_;
  std::map<std::string, Result<FixOverlay>> overlays_;
};

}  // namespace flce
