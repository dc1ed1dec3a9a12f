#include "harness/plan/version_axis.h"

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace flce {
namespace {

std::vector<Version> Sorted(const std::vector<std::string>& texts) {
  std::vector<Version> versions;
  for (const std::string& text : texts)
    if (std::optional<Version> version = Version::Parse(text)) versions.push_back(std::move(*version));
  std::sort(versions.begin(), versions.end(), [](const Version& a, const Version& b) { return a < b; });
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

std::vector<Version> Thin(const std::vector<Version>& versions) {
  std::vector<Version> kept;
  for (const Version& version : versions) {
    const auto minor = [](const Version& v) { return std::pair(v.release()[0], v.release().size() > 1 ? v.release()[1] : 0); };
    if (!kept.empty() && minor(kept.back()) == minor(version)) kept.pop_back();
    kept.push_back(version);
  }
  return kept;
}

/// The known versions around one that is not there, for the error.
std::string Neighbours(const std::vector<Version>& known, const std::string& expression) {
  if (known.empty()) return "none is known";
  std::vector<std::string> texts;
  for (const Version& version : known) texts.push_back(version.text());
  if (texts.size() > 12) {
    // The ones that share the first number pair, else the newest.
    std::vector<std::string> near;
    const std::optional<Version> asked = Version::Parse(expression);
    for (const Version& version : known)
      if (asked && asked->release().size() >= 2 && version.release().size() >= 2 && version.release()[0] == asked->release()[0] &&
          version.release()[1] == asked->release()[1])
        near.push_back(version.text());
    if (near.empty()) {
      const std::vector<Version> minors = Thin(known);
      for (size_t i = minors.size() > 8 ? minors.size() - 8 : 0; i < minors.size(); ++i) near.push_back(minors[i].text());
    }
    texts = near;
  }
  return "known: " + Join(texts, ", ");
}

}  // namespace

std::vector<std::string> NewestOfEachMinor(const std::vector<std::string>& versions) {
  std::vector<std::string> texts;
  for (const Version& version : Thin(Sorted(versions))) texts.push_back(version.text());
  return texts;
}

bool NeedsReleaseList(std::string_view expression) {
  const std::optional<Version> version = Version::Parse(expression);
  return !version || version->release().size() < 3;
}

Result<std::vector<std::string>> ExpandVersions(const std::vector<std::string>& expressions, const std::vector<std::string>& known_texts,
                                                Granularity granularity, std::string_view what) {
  const std::vector<Version> known = Sorted(known_texts);
  std::vector<Version> finals;
  std::copy_if(known.begin(), known.end(), std::back_inserter(finals), [](const Version& v) { return !v.IsPreRelease(); });
  const auto coarse = [&](std::vector<Version> versions) { return granularity == Granularity::kMinor ? Thin(versions) : versions; };
  const auto within = [&](auto holds) {
    std::vector<Version> chosen;
    std::copy_if(finals.begin(), finals.end(), std::back_inserter(chosen), holds);
    return chosen;
  };

  std::vector<std::string> texts;
  for (const std::string& raw : expressions) {
    const std::string expression(Trim(raw));
    std::vector<Version> chosen;
    if (expression == "all") {
      chosen = coarse(finals);
    } else if (expression == "newest") {
      if (!finals.empty()) chosen = {finals.back()};
    } else if (const size_t dots = expression.find(".."); dots != std::string::npos) {
      const std::optional<Version> from = Version::Parse(expression.substr(0, dots)), to = Version::Parse(expression.substr(dots + 2));
      if (!from || !to)
        return Error{ErrorKind::kUsage, "--" + std::string(what) + " '" + expression + "': expected two versions such as 2.8..2.15"};
      chosen = coarse(within([&](const Version& v) { return v >= *from && (v <= *to || v.HasPrefix(*to)); }));
    } else if (const std::optional<Version> version = Version::Parse(expression)) {
      // Full release numbers and pre-releases mean themselves; a shorter one the newest release that begins so.
      for (const Version& candidate : known)
        if (candidate == *version && (version->release().size() >= 3 || version->IsPreRelease())) chosen = {candidate};
      if (chosen.empty() && !version->IsPreRelease() && version->release().size() < 3) {
        const std::vector<Version> same = within([&](const Version& v) { return v.HasPrefix(*version); });
        if (!same.empty()) chosen = {same.back()};
      }
    } else {
      Result<VersionRange> range = VersionRange::Parse(expression);
      if (!range)
        return Error{ErrorKind::kUsage, "--" + std::string(what) + " '" + expression +
                                            "': expected a version (2.13), a range (2.8..2.15 or >=2.8,<2.13), all or newest"};
      chosen = coarse(within([&](const Version& v) { return range->Contains(v); }));
    }
    if (chosen.empty())
      return Error{ErrorKind::kNotFound, "no " + std::string(what) + " release '" + expression + "'; " + Neighbours(finals, expression)};
    for (const Version& version : chosen) texts.push_back(version.text());
  }
  std::vector<std::string> result;
  for (const Version& version : Sorted(texts)) result.push_back(version.text());
  return result;
}

}  // namespace flce
