#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"

namespace flce {

/// Packages as plain folders, to be put on sys.path behind Liger.
struct PackageFolder {
  fs::path root;                      ///< packages/<key>, one for each list and Python; empty: the environment has them all
  std::vector<std::string> packages;  ///< those installed there, "name==version"
  std::string lock_sha256;            ///< identity of the installed files; empty with `root`
  bool reused = false;                ///< it was there
};

}  // namespace flce
