#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/model/cell.h"

namespace flce {

/// What a report says about a signature, from cases/signatures.json.
struct SignatureText {
  std::string title;                ///< "Tier 2: addmm with out_dtype stops in Inductor's lowering"
  std::string label;                ///< "Tier 2", for sentences and legends; "": what stands before the title's colon
  std::string mark;                 ///< one or two characters for a matrix; "": the tier's number
  std::string known_range;          ///< since and until which torch: "torch 2.13 and later, no fixed release"
  std::string what_to_do;           ///< one or two sentences
  std::vector<std::string> proof;   ///< regular expressions that all match in the failure; empty: made from the cell's own exception
  std::vector<std::string> links;   ///< issues and pull requests
};

/// What a report says about a case, and what its reproduction script is made from.
struct CaseInfo {
  std::string title;            ///< "Fused linear cross entropy, bf16 with an fp32 gradient accumulator"
  std::string module;           ///< Python module of the case: "flce_case"
  std::string parameters_json;  ///< the case's "parameters", as JSON text
  std::string compile_json;     ///< the case's "compile", as JSON text
  Shape shape{8, 16, 32};       ///< the case's own shape
  uint64_t seed = 1327;
};

/// Everything a writer needs beside the run. All members may stay empty: a report then says less, never something wrong.
struct ReportOptions {
  std::map<std::string, SignatureText> signatures;   ///< by id
  std::map<std::string, CaseInfo> cases;             ///< by name
  std::map<std::string, std::string> locks;          ///< lock_sha256 -> text that `uv pip install -r` reads
  std::map<std::string, std::string> fix_patches;    ///< fix name -> its patch
  std::vector<std::string> private_words;            ///< host and user name: never in a format made to be shown to others
  std::string report_path;                           ///< where the JSON report lies, for the terminal
  std::string annotation_prefix;                     ///< put before call sites in GitHub annotations: "src/"
};

}  // namespace flce
