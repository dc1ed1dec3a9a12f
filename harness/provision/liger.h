#pragma once

#include <string>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/provision/runner.h"

namespace flce {

/// A folder that holds liger_kernel/, to be put on sys.path.
struct LigerTree {
  fs::path root;
  std::string version;  ///< "0.8.5"; of a checkout what its pyproject.toml says
  std::string source;   ///< "release" or "checkout"
  std::string sha256;   ///< of the wheel; of a checkout, of its Python sources
  std::string git;      ///< commit of a checkout, "" otherwise or without git
  bool dirty = false;   ///< the checkout has changes that are not committed
  bool reused = false;

  /// "0.8.5", "0.8.5 at 1a2b3c4d5e6f", "0.8.5 at 1a2b3c4d5e6f with changes".
  std::string Label() const;
};

/// The checkout at `path` (the repository, its src/, or any folder that holds liger_kernel/).
Result<LigerTree> OpenLigerCheckout(const fs::path& path, ProcessRunner& runner);

/// SHA-256 over the names and contents of the Python files below `dir`, in the order of their names.
Result<std::string> HashPythonTree(const fs::path& dir);

}  // namespace flce
