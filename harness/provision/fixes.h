#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

/// A text that a file must hold before a fix makes sense.
struct FixRequirement {
  std::string file;       ///< "torch/..." or "liger_kernel/..."
  std::string contains;
  std::string otherwise;  ///< what its absence means
};

/// An entry of cases/fixes/fixes.json, or a user's diff.
struct FixDescription {
  std::string name, title;
  std::string target;             ///< "none", "liger", "torch"; a user's diff: "" (its paths tell)
  std::string kind;               ///< "none", "diff", "python"
  std::vector<fs::path> files;    ///< diffs, absolute
  std::string python_module;      ///< kind "python": module to import first
  std::vector<FixRequirement> requirements;
};

/// What the worker needs to run with a fix.
struct FixOverlay {
  struct Hook {
    std::string module;  ///< import this module ...
    fs::path file;       ///< ... from this file
  };
  std::string name;
  bool applies = true;
  std::string reason;  ///< why not, one line: "hunk 1 of torch/_inductor/decomposition.py does not match"
  std::string reject;  ///< the hunk that failed, as in the diff
  fs::path sys_path;   ///< folder to put in front of Liger; empty when Liger is not patched
  std::vector<Hook> hooks;
  std::string python_module;
  std::string sha256;  ///< of the diffs; "" for none
};

/// Every entry of `cases_dir`/fixes/fixes.json.
Result<std::vector<FixDescription>> LoadFixes(const fs::path& cases_dir);

/// The fix called `name_or_file`: an entry, or the path of a diff (it ends in .diff or .patch, or holds a '/').
/// kNotFound with the nearest known name.
Result<FixDescription> FindFix(const std::string& name_or_file, const fs::path& cases_dir);

}  // namespace flce
