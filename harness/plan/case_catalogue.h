#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/cell.h"

namespace flce {

/// One case: a JSON file of cases/ that names a Python function, its parameters and shape, how it is compiled, and the
/// call that is in question.
struct CaseFile {
  std::string name, title, why;
  std::string kind;  ///< "liger" (needs a Liger tree) or another word of the case's own
  std::string module, function;
  Shape shape;
  bool expects_backward = true;
  double deadline_s = 0;  ///< the case's own, when shorter than the run's; 0: none
  std::vector<std::string> tags;
  std::vector<std::string> packages;  ///< what it needs beside torch and Liger, each "name==version", none implied
  fs::path file;
  /// What a result depends on: the case file and the Python module beside it. Their hashes are part of a cell's key.
  std::vector<fs::path> sources;
  std::string document;  ///< the file's text, whole: the worker's request carries it on

  bool HasTag(std::string_view tag) const;
};

/// The cases of a folder. A JSON file is a case if it has a member "module" or "function"; other data files are passed over.
class CaseCatalogue {
 public:
  /// Reads and checks every case. A malformed one is kData naming the file and the member; no file at all is kNotFound.
  static Result<CaseCatalogue> Load(const fs::path& folder);

  const std::vector<CaseFile>& cases() const { return cases_; }  ///< by name
  /// kUsage with the nearest or the known names.
  Result<const CaseFile*> Find(std::string_view name) const;
  /// The cases that a name with wildcards stands for ("flce-*"); kUsage if there is none.
  Result<std::vector<const CaseFile*>> Select(std::string_view pattern) const;

 private:
  std::vector<CaseFile> cases_;
};

/// Checks one case document; `origin` names it in errors.
Result<CaseFile> ParseCase(std::string_view text, const std::string& origin);

}  // namespace flce
