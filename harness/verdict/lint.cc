#include <algorithm>
#include <map>
#include <set>

#include <fnmatch.h>

#include "harness/base/text.h"
#include "harness/verdict/expectations.h"

// Implementation details: whether a rule can be reached is decided on sample points, not by algebra. On each axis the
// points are those between which no rule changes its mind: around every bound that a rule names, and every name that
// there is. A rule of which no combination of points is left by the rules before it can match no cell.
namespace flce {
namespace {

using Mask = std::vector<bool>;  // rule -> does it accept this point?

/// Versions just before, at, inside and just after a bound.
void AddPoints(const std::string& bound, std::set<std::string>& points) {
  const std::optional<Version> version = Version::Parse(bound);
  if (!version) return;
  std::vector<int> release = version->release();
  const auto text = [](const std::vector<int>& numbers) {
    std::vector<std::string> pieces;
    for (int number : numbers) pieces.push_back(std::to_string(number));
    return Join(pieces, ".");
  };
  points.insert(bound);
  points.insert(text(release) + ".99999");
  std::vector<int> next = release, previous = release;
  ++next.back();
  points.insert(text(next));
  for (size_t i = previous.size(); i-- > 0;)
    if (previous[i] > 0) {
      --previous[i];
      previous.resize(i + 1);
      points.insert(text(previous) + ".99999");
      break;
    }
}

std::vector<std::string> Points(const std::vector<const VersionRange*>& ranges) {
  std::set<std::string> points = {"0", "99999"};
  for (const VersionRange* range : ranges)
    for (const std::string& clause : Split(range->text(), ',')) {
      const size_t digit = clause.find_first_of("0123456789");
      if (digit != std::string::npos) AddPoints(clause.substr(digit), points);
    }
  return {points.begin(), points.end()};
}

/// Each distinct column of answers once: points that no rule tells apart are one.
template <typename Accepts>
std::vector<Mask> Columns(const std::vector<std::string>& points, size_t rules, Accepts accepts) {
  std::set<Mask> columns;
  for (const std::string& point : points) {
    Mask column(rules);
    for (size_t rule = 0; rule < rules; ++rule) column[rule] = accepts(rule, point);
    columns.insert(std::move(column));
  }
  return {columns.begin(), columns.end()};
}

std::vector<Mask> Combine(const std::vector<Mask>& left, const std::vector<Mask>& right) {
  std::set<Mask> combined;
  for (const Mask& a : left)
    for (const Mask& b : right) {
      Mask both(a.size());
      for (size_t i = 0; i < a.size(); ++i) both[i] = a[i] && b[i];
      combined.insert(std::move(both));
    }
  return {combined.begin(), combined.end()};
}

std::vector<std::string> WithOther(std::vector<std::string> names, const std::vector<ExpectationRule>& rules, NamePattern CellPattern::*axis) {
  // Without a list of what exists, the plain names of the rules stand for it.
  for (const ExpectationRule& rule : rules)
    for (const std::string& entry : (rule.when.*axis).entries) names.push_back(ReplaceAll(ReplaceAll(entry, "!", ""), "*", "any"));
  names.push_back("another-name");
  return names;
}

std::set<size_t> Reachable(const std::vector<ExpectationRule>& rules, const LintContext& context) {
  const size_t count = rules.size();
  std::vector<Mask> masks = {Mask(count, true)};
  for (VersionRange CellPattern::*axis : {&CellPattern::torch, &CellPattern::liger, &CellPattern::capability}) {
    std::vector<const VersionRange*> ranges;
    for (const ExpectationRule& rule : rules) ranges.push_back(&(rule.when.*axis));
    masks = Combine(masks, Columns(Points(ranges), count, [&](size_t rule, const std::string& point) {
                      return (rules[rule].when.*axis).Contains(*Version::Parse(point));
                    }));
  }
  const std::pair<NamePattern CellPattern::*, const std::vector<std::string>*> names[] = {{&CellPattern::case_name, &context.cases},
                                                                                         {&CellPattern::fix, &context.fixes}};
  for (const auto& [axis, known] : names)
    masks = Combine(masks, Columns(known->empty() ? WithOther({}, rules, axis) : *known, count, [&, a = axis](size_t rule, const std::string& point) {
                      return (rules[rule].when.*a).Matches(point);
                    }));
  masks = Combine(masks, Columns({"emulated", "cuda"}, count, [&](size_t rule, const std::string& point) {
                    return !rules[rule].when.device || Text(*rules[rule].when.device) == point;
                  }));
  std::set<size_t> reachable;
  for (const Mask& mask : masks) {
    const auto first = std::find(mask.begin(), mask.end(), true);
    if (first != mask.end()) reachable.insert(static_cast<size_t>(first - mask.begin()));
  }
  return reachable;
}

void CheckNames(const NamePattern& pattern, const std::vector<std::string>& known, std::string_view what, const std::string& rule,
                std::vector<std::string>& problems) {
  if (known.empty()) return;
  for (const std::string& entry : pattern.entries) {
    const std::string name = entry.substr(entry.rfind('!') == 0 ? 1 : 0);
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return ::fnmatch(name.c_str(), k.c_str(), 0) == 0; }))
      problems.push_back("rule '" + rule + "': " + UnknownName(what, name, known));
  }
}

}  // namespace

std::vector<std::string> Lint(const Expectations& expectations, const LintContext& context) {
  const std::vector<ExpectationRule>& rules = expectations.rules();
  std::vector<std::string> problems;
  const std::set<size_t> reachable = Reachable(rules, context);
  for (size_t i = 0; i < rules.size(); ++i) {
    const ExpectationRule& rule = rules[i];
    CheckNames(rule.when.case_name, context.cases, "case", rule.id, problems);
    CheckNames(rule.when.fix, context.fixes, "fix", rule.id, problems);
    if (!rule.expect.signature.empty()) CheckNames({{rule.expect.signature}}, context.signatures, "signature", rule.id, problems);
    if (!reachable.count(i)) problems.push_back("rule '" + rule.id + "' is unreachable: the rules before it take every cell that it matches");
    if (!rule.expires.empty() && !context.today.empty() && rule.expires < context.today)
      problems.push_back("rule '" + rule.id + "' expired on " + rule.expires + (rule.owner.empty() ? "" : "; ask " + rule.owner) +
                         " whether it still holds, then move the day or remove the rule");
    const bool accepts_failure = !rule.control && IsFailure(rule.expect.outcome);
    if (accepts_failure && rule.link.empty()) problems.push_back("rule '" + rule.id + "' accepts a failure without a \"link\" to its issue");
    if (accepts_failure && rule.owner.empty()) problems.push_back("rule '" + rule.id + "' accepts a failure without an \"owner\"");
  }
  return problems;
}

}  // namespace flce
