#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace flce {

/// What a unified diff does to one file.
struct FileDiff {
  std::string path;  ///< without the "b/" of git; the old one when the file is removed
  bool adds = false, removes = false;
  std::string hunks;  ///< from the first "@@" on

  /// The whole diff of this file again, under another path.
  std::string Text(const std::string& as_path) const;
};

/// The file sections of a unified diff (git's or diff -u's); words before the first are left out. kData when it has
/// none, or changes binaries or names, which no hunk expresses.
Result<std::vector<FileDiff>> ParseDiff(std::string_view text, const std::string& name);

/// Where a changed file belongs: "torch/..." and "liger_kernel/..." wherever the repository keeps them ("src/"), "" for
/// what neither package installs (tests, documents).
std::string InstalledPath(const std::string& path);

/// "torch._inductor.decomposition" of "torch/_inductor/decomposition.py"; a package for its __init__.py.
std::string ModuleOf(const std::string& installed_path);

}  // namespace flce
