#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/cell_pattern.h"
#include "harness/model/names.h"

namespace flce {

/// What a rule asks for. What is absent is not compared.
struct ExpectedResult {
  Outcome outcome = Outcome::kReproduced;
  std::optional<Reason> reason;
  std::string signature;             ///< "" : not compared
  std::optional<Evidence> evidence;  ///< kExecuted: only a real GPU can satisfy the rule
};
/// "reproduced (tier2-addmm-dtype-lowering)", "not_reproduced (fixed), executed".
std::string Text(const ExpectedResult& expected);

/// What a control cell is there to show.
enum class ControlRole { kClean, kFailing, kCrashed, kTimedOut, kEnvironment, kNotCompiled };
std::string_view Text(ControlRole role);
/// What a gate must have seen: a harness that cannot see a failure looks green.
constexpr ControlRole kRequiredControls[] = {ControlRole::kClean, ControlRole::kFailing, ControlRole::kCrashed, ControlRole::kTimedOut};

struct ExpectationRule {
  std::string id;
  CellPattern when;
  ExpectedResult expect;
  std::optional<ControlRole> control;
  std::string why;      ///< why that is expected, for people
  std::string link;     ///< the upstream issue or pull request
  std::string owner;    ///< who is asked when it no longer holds
  std::string expires;  ///< "2027-06-30": after that day the lint asks for another look; "" never
  std::string on_pass;  ///< what to do when a failure that was expected is gone
};

/// cases/expectations.json (format 1): what is known to come out, to compare against. It never makes a verdict: a cell is
/// classified from its own observation first. The first rule that matches a cell counts.
class Expectations {
 public:
  /// kData naming the rule and the member.
  static Result<Expectations> Load(const fs::path& file);
  static Result<Expectations> Parse(std::string_view text, const std::string& origin);

  const std::vector<ExpectationRule>& rules() const { return rules_; }
  /// The first rule that matches, or null.
  const ExpectationRule* Find(const CellFacts& facts) const;

 private:
  std::vector<ExpectationRule> rules_;
};

nlohmann::ordered_json ToJson(const ExpectationRule& rule);

/// Names that rules may speak of.
struct LintContext {
  std::vector<std::string> cases, fixes, signatures;  ///< an empty list is not checked
  std::string today;                                  ///< "2026-01-31"; "" : expiry is not checked
};
/// One line a problem: rules that no cell can reach because earlier ones take all of theirs, expired ones, names that do
/// not exist, rules that accept a failure without an issue or an owner.
std::vector<std::string> Lint(const Expectations& expectations, const LintContext& context);

}  // namespace flce
