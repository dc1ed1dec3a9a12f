#include "harness/verdict/judge.h"

#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce {
namespace {

bool Satisfies(const Verdict& verdict, const ExpectedResult& expected) {
  return verdict.outcome == expected.outcome && (!expected.reason || verdict.reason == *expected.reason) &&
         (expected.signature.empty() || verdict.signature == expected.signature);
}

/// A pass that says something about the code in question: it ran compiled, or is no longer there.
bool IsSound(const Verdict& verdict) {
  return verdict.outcome == Outcome::kNotReproduced && (verdict.reason == Reason::kFixed || verdict.reason == Reason::kNotAffected);
}

/// Failures of the compiler on the code in question, known or not.
bool IsCompileFailure(Outcome outcome) { return outcome == Outcome::kReproduced || outcome == Outcome::kUnexpected; }

/// No default: a new outcome must be given its place here.
std::optional<Standing> Compare(const Verdict& verdict, const ExpectedResult& expected) {
  if (Satisfies(verdict, expected)) return Standing::kExpected;
  const bool failure_expected = IsFailure(expected.outcome);
  switch (verdict.outcome) {
    case Outcome::kEnvironment:
    case Outcome::kTimedOut:
    case Outcome::kSkipped:
      return std::nullopt;  // decides nothing: neither better nor worse
    case Outcome::kNotReproduced:
      return (failure_expected || IsInconclusive(expected.outcome)) && IsSound(verdict) ? Standing::kImproved : Standing::kChanged;
    case Outcome::kReproduced:
    case Outcome::kUnexpected:
      return IsCompileFailure(expected.outcome) || IsInconclusive(expected.outcome) ? Standing::kChanged : Standing::kRegressed;
    case Outcome::kEagerFailed:
    case Outcome::kNumericsMismatch:
    case Outcome::kCrashed:
      return verdict.outcome == expected.outcome ? Standing::kChanged : Standing::kRegressed;
  }
  return std::nullopt;
}

std::string ResultText(const Verdict& verdict) {
  ExpectedResult result;
  result.outcome = verdict.outcome;
  result.reason = verdict.reason;
  result.signature = verdict.signature;
  return Text(result);
}

/// A rule for exactly this cell. The person who adds it widens it.
std::string Edit(const CellRecord& cell, const ExpectationRule* before) {
  nlohmann::ordered_json when = {{"case", cell.case_name}, {"fix", cell.fix}};
  if (Version::Parse(cell.torch)) when["torch"] = "==" + Version::Parse(cell.torch)->Public();
  if (Version::Parse(cell.liger)) when["liger"] = "==" + Version::Parse(cell.liger)->Public();
  when["capability"] = "==" + cell.capability;
  nlohmann::ordered_json expect = {{"outcome", Text(cell.verdict.outcome)}};
  if (cell.verdict.reason != Reason::kNone) expect["reason"] = Text(cell.verdict.reason);
  if (!cell.verdict.signature.empty()) expect["signature"] = cell.verdict.signature;
  const nlohmann::ordered_json rule = {{"id", cell.case_name + "-" + cell.fix + "-torch-" + cell.torch + "-" + cell.capability},
                                       {"when", std::move(when)},
                                       {"expect", std::move(expect)},
                                       {"why", "..."},
                                       {"link", before == nullptr ? "" : before->link},
                                       {"owner", before == nullptr ? "" : before->owner}};
  return "in cases/expectations.json, " + (before == nullptr ? std::string("at the end of \"rules\"") : "before the rule '" + before->id + "'") +
         ", add: " + rule.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string Words(Standing standing) {
  switch (standing) {
    case Standing::kExpected:
      return "as expected";
    case Standing::kRegressed:
      return "worse than expected";
    case Standing::kImproved:
      return "better than expected";
    case Standing::kChanged:
      return "other than expected";
    case Standing::kUnlisted:
      return "not listed";
  }
  return "";
}

}  // namespace

Judgement Judge(const CellRecord& cell, const Expectations& expectations) {
  Judgement judgement;
  const ExpectationRule* rule = expectations.Find(FactsOf(cell));
  if (rule == nullptr) {
    if (!IsInconclusive(cell.verdict.outcome) && cell.verdict.outcome != Outcome::kSkipped) judgement.standing = Standing::kUnlisted;
    judgement.text = "no rule speaks of this cell";
    judgement.edit = Edit(cell, nullptr);
    return judgement;
  }
  judgement.rule = rule->id;
  const std::string asked = "rule '" + rule->id + "' expects " + Text(rule->expect);
  if (rule->expect.evidence == Evidence::kExecuted && cell.verdict.evidence != Evidence::kExecuted) {
    // A failure is one all the same: the compiler gave up before any value was computed.
    judgement.standing = IsFailure(cell.verdict.outcome) ? Compare(cell.verdict, rule->expect) : Standing::kUnlisted;
    if (judgement.standing == Standing::kExpected) judgement.standing = Standing::kUnlisted;
    judgement.needs_gpu = true;
    judgement.text = asked + ", and an emulated run cannot satisfy it";
    return judgement;
  }
  judgement.standing = Compare(cell.verdict, rule->expect);
  judgement.text = asked;
  if (judgement.standing == Standing::kExpected) {
    judgement.text += ": " + rule->why;
    return judgement;
  }
  judgement.text += "; got " + ResultText(cell.verdict) + (judgement.standing ? ", " + Words(*judgement.standing) : ", which decides nothing");
  if (judgement.standing == Standing::kImproved && !rule->on_pass.empty()) judgement.text += ". " + rule->on_pass;
  if (judgement.standing) judgement.edit = Edit(cell, rule);
  return judgement;
}

void Apply(const Judgement& judgement, CellRecord& cell) {
  // The findings of an earlier judgement, by other rules, go with it.
  std::erase_if(cell.verdict.findings, [](const Finding& finding) { return finding.kind == kNeedsGpuFinding || finding.kind == kEditFinding; });
  cell.standing = judgement.standing;
  cell.expectation = judgement.text;
  if (judgement.needs_gpu) cell.verdict.findings.push_back({kNeedsGpuFinding, judgement.text});
  if (!judgement.edit.empty() && judgement.standing && *judgement.standing != Standing::kUnlisted)
    cell.verdict.findings.push_back({kEditFinding, "to make this expected, " + judgement.edit});
}

}  // namespace flce
