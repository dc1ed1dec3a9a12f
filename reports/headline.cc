#include <algorithm>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "reports/words.h"

namespace flce {
namespace {

/// "2.13.0" -> "2.13" where no other patch release of 2.13 was tried.
std::string ShortName(const std::string& version, const std::vector<std::string>& all) {
  const size_t second = version.find('.', version.find('.') + 1);
  if (second == std::string::npos) return version;
  const std::string minor = version.substr(0, second);
  const auto same = std::count_if(all.begin(), all.end(), [&](const std::string& v) { return v == minor || v.starts_with(minor + "."); });
  const bool plain = version.find_first_not_of("0123456789.") == std::string::npos;
  return same == 1 && plain ? minor : version;
}

struct Seen {
  std::map<std::string, int> failing, other;  // label -> cells
};

std::string Most(const std::map<std::string, int>& labels) {
  return std::max_element(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

std::string Range(const Stretch& stretch) {
  if (stretch.from == stretch.to) return stretch.from;
  return stretch.from + " to " + stretch.to;
}

}  // namespace

std::vector<std::string> SortedVersions(std::vector<std::string> versions) {
  std::stable_sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    const std::optional<Version> left = Version::Parse(a), right = Version::Parse(b);
    if (left && right) return *left < *right;
    return left.has_value() && !right;  // what is no version comes last
  });
  // What is no version keeps its order, so equal ones need not be neighbours.
  std::set<std::string> seen;
  versions.erase(std::remove_if(versions.begin(), versions.end(), [&](const std::string& version) { return !seen.insert(version).second; }), versions.end());
  return versions;
}

std::vector<Stretch> TorchStretches(const RunRecord& run, const std::string& case_name, const ReportOptions& options) {
  std::map<std::string, Seen> by_torch;
  std::vector<std::string> versions;
  for (const CellRecord& cell : run.cells) {
    if (cell.case_name != case_name || cell.fix != "none") continue;
    const std::string torch = PublicVersion(cell.torch);
    versions.push_back(torch);
    Seen& seen = by_torch[torch];
    const std::string label = MarkOf(cell, options).label;
    ++(IsFailure(cell.verdict.outcome) ? seen.failing : seen.other)[label];
  }
  versions = SortedVersions(std::move(versions));
  std::vector<Stretch> stretches;
  for (const std::string& version : versions) {
    const Seen& seen = by_torch[version];
    std::string what;
    if (seen.failing.empty()) {
      what = Most(seen.other);
    } else {
      for (const auto& [label, count] : seen.failing) what += (what.empty() ? "" : " and ") + label;
    }
    const std::string name = ShortName(version, versions);
    const bool failing = !seen.failing.empty();
    if (stretches.empty() || stretches.back().what != what) {
      stretches.push_back({name, name, false, failing, what});
    } else {
      stretches.back().to = name;
    }
  }
  if (!stretches.empty()) stretches.back().to_newest = stretches.size() > 1;
  return stretches;
}

std::string Headline(const RunRecord& run, const ReportOptions& options) {
  if (run.cells.empty()) return "No cell was selected.";
  if (run.cells.size() == 1) {
    const CellRecord& cell = run.cells.front();
    std::string words = VerdictWords(cell);
    if (cell.verdict.outcome == Outcome::kReproduced) {
      const SignatureText text = SignatureOf(cell.verdict.signature, options);
      words += ": " + text.label + (text.title == text.label ? "" : ", " + text.title);
    }
    return words + " on " + CellWords(cell) + ".";
  }
  const std::string case_name = run.cells.front().case_name;
  const std::vector<Stretch> stretches = TorchStretches(run, case_name, options);
  std::vector<std::string> failing, quiet;
  for (const Stretch& stretch : stretches) {
    const std::string torch = failing.empty() ? "torch " : "";
    if (!stretch.failing) {
      quiet.push_back(stretch.what + " on " + Range(stretch));
    } else if (stretch.to_newest && stretch.from != stretch.to) {
      failing.push_back(stretch.what + " since " + torch + stretch.from + " (newest tried: " + stretch.to + ")");
    } else {
      failing.push_back(stretch.what + " on " + torch + Range(stretch));
    }
  }
  std::string text = Join(failing, ", ");
  if (!quiet.empty()) text += (text.empty() ? "No failure without a fix: " : "; ") + Join(quiet, ", ");
  if (text.empty()) {  // only fixes were run
    int fixed = 0;
    for (const CellRecord& cell : run.cells) fixed += MarkOf(cell, options).mark_class == MarkClass::kFixed;
    text = std::to_string(fixed) + " of " + std::to_string(run.cells.size()) + " cells are fixed";
  }
  return text + ".";
}

}  // namespace flce
