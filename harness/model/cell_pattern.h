#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/version.h"
#include "harness/model/cell.h"
#include "harness/model/run_record.h"

namespace flce {

/// What a predicate over cells looks at. A version that cannot be parsed (a checkout's path) is absent, and a pattern
/// that constrains it does not match.
struct CellFacts {
  std::string case_name, fix;
  std::optional<Version> torch, liger, capability;
  DeviceKind device = DeviceKind::kEmulated;
};
CellFacts FactsOf(const Cell& cell);
CellFacts FactsOf(const CellRecord& cell);

/// A list of names with '*' as wildcard; a leading '!' excludes. Empty: every name. A name matches if any plain entry
/// does (or there is none) and no excluding one.
struct NamePattern {
  std::vector<std::string> entries;
  bool Matches(const std::string& name) const;
};

/// A conjunction of predicates on the axes of a cell; what is not named holds for every cell.
struct CellPattern {
  NamePattern case_name, fix;
  VersionRange torch, liger, capability;
  std::optional<DeviceKind> device;

  bool Matches(const CellFacts& facts) const;

  /// {"case": "flce-*" | [...], "fix": ..., "torch": ">=2.8,<2.13", "liger": ..., "capability": ">=8", "device": "emulated"}.
  /// Another member is kData naming `path` and the nearest known one.
  static Result<CellPattern> FromJson(const nlohmann::ordered_json& json, const std::string& path);
  /// One line, as a command takes it: terms separated by ';' or blanks, "torch<2.8;capability=12.1;case=flce-fp16*|cpu-*".
  static Result<CellPattern> Parse(std::string_view text);
  /// Only the members that constrain.
  nlohmann::ordered_json ToJson() const;
};

}  // namespace flce
