#include "harness/provision/index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t kFreshSeconds = 3600;
constexpr int kCacheFormat = 1;

Json ReadCache(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (text) {
    Json json = Json::parse(*text, nullptr, false);
    if (json.is_object() && json.value("format", 0) == kCacheFormat && json.contains("answers") && json["answers"].is_object()) return json;
  }
  return {{"format", kCacheFormat}, {"answers", Json::object()}};
}

std::string Minor(const Version& version) {
  const std::vector<int>& release = version.release();
  return std::to_string(release[0]) + "." + std::to_string(release.size() > 1 ? release[1] : 0);
}

bool NamesPatch(const Version& version) { return version.release().size() > 2 || version.IsPreRelease(); }

/// "2.16" for "2.15" and "2.15.1": "<2.16" excludes the following minor version and its pre-releases.
std::string AboveMinor(const Version& version) {
  const std::vector<int>& release = version.release();
  return std::to_string(release[0]) + "." + std::to_string((release.size() > 1 ? release[1] : 0) + 1);
}

}  // namespace

Error MissingOffline(const std::string& subject, const std::vector<std::string>& installed) {
  return {ErrorKind::kEnvironment, subject + " is not installed and --offline forbids to fetch it; run the same command once without --offline (installed: " +
                                       (installed.empty() ? "none" : Join(installed, ", ")) + ")"};
}

Catalogue::Catalogue(PackageIndex* index, ReleaseSource source, Options options, int64_t now_s)
    : index_(index), source_(std::move(source)), options_(std::move(options)), now_s_(now_s) {}

std::optional<std::string> Catalogue::FindInstalled(const IndexQuery& query) const {
  const Result<VersionRange> range = VersionRange::Parse(query.constraint);
  std::optional<Version> best;
  if (!range || !options_.installed) return std::nullopt;
  for (const std::string& text : options_.installed()) {
    const std::optional<Version> version = Version::Parse(text);
    if (!version || (version->IsPreRelease() && !query.pre_releases) || !range->Contains(*version)) continue;
    if (!best || (query.oldest ? *version < *best : *version > *best)) best = version;
  }
  return best ? std::optional<std::string>(best->text()) : std::nullopt;
}

Result<std::optional<std::string>> Catalogue::Ask(const IndexQuery& query) {
  if (options_.offline) return FindInstalled(query);
  const std::string key = query.package + query.constraint + (query.oldest ? " oldest" : "") + (query.pre_releases ? " pre" : "") + " " +
                          options_.cache_key;
  Json cache = ReadCache(options_.cache_file);
  const Json known = cache["answers"].value(key, Json());
  const auto answer = [&]() -> std::optional<std::string> {
    if (!known.is_object() || !known.contains("version") || !known["version"].is_string()) return std::nullopt;
    return known["version"].get<std::string>();
  };
  if (known.is_object() && answer() && known.value("at", int64_t{0}) + kFreshSeconds > now_s_) return answer();

  Result<std::optional<std::string>> found = index_->Find(query);
  if (!found) {
    // What was known an hour ago, or what is installed, is better than nothing: the network is not needed for either.
    const std::optional<std::string> fallback = answer() ? answer() : FindInstalled(query);
    if (!fallback || found.error().kind != ErrorKind::kEnvironment) return found;
    note_ = found.error().message + "; going on with " + source_.package + " " + *fallback + ", known from before";
    return fallback;
  }
  if (*found) {
    cache["answers"][key] = {{"version", **found}, {"at", now_s_}};
    // Only a saving of time: an unwritable cache shows when something is installed.
    (void)WriteFileAtomically(options_.cache_file, cache.dump(1) + "\n").ok();
  }
  return found;
}

Error Catalogue::Unknown(const std::string& version) {
  if (options_.offline) return MissingOffline(source_.package + " " + version, options_.installed ? options_.installed() : std::vector<std::string>());
  const Result<std::optional<std::string>> below = Ask({source_.package, "<" + version, false, false});
  const Result<std::optional<std::string>> above = Ask({source_.package, ">" + version, true, false});
  std::vector<std::string> nearest;
  if (below && *below) nearest.push_back(**below + " (the newest before)");
  if (above && *above) nearest.push_back(**above + " (the first after)");
  std::string message = "no " + source_.package + " " + version + " for this interpreter on the package index";
  if (!nearest.empty()) message += "; nearest: " + Join(nearest, ", ");
  return {ErrorKind::kNotFound, message};
}

Result<std::string> Catalogue::Resolve(const std::string& spec) {
  IndexQuery query{source_.package, "", false, false};
  if (spec == "nightly") {
    query.package = source_.nightly_package;
    query.pre_releases = true;
  } else if (spec != "newest") {
    const std::optional<Version> version = Version::Parse(spec);
    if (!version)
      return Error{ErrorKind::kUsage, "'" + spec + "' is no " + source_.package + " version; write one as 2.13.0, 2.13, newest or nightly"};
    if (NamesPatch(*version)) return version->text();
    query.constraint = ">=" + spec + ",<" + AboveMinor(*version);
    if (version->release().size() == 1) query.constraint = "==" + spec + ".*";
  }
  FLCE_TRY(const std::optional<std::string> found, Ask(query));
  if (found) return *found;
  if (!options_.offline && query.constraint.empty()) return Error{ErrorKind::kNotFound, "no " + query.package + " on the package index"};
  return Unknown(spec);
}

Result<std::vector<std::string>> Catalogue::Walk(const std::string& from, const std::string& to) {
  const std::optional<Version> first = Version::Parse(from), last = Version::Parse(to);
  if (!first || (!to.empty() && !last))
    return Error{ErrorKind::kUsage, "'" + from + ".." + to + "' is no range of " + source_.package + " versions; write it as 2.8..2.15"};
  if (last && *last < *first) return Error{ErrorKind::kUsage, "the range " + from + ".." + to + " runs backwards"};
  std::string below;
  if (last) below = NamesPatch(*last) ? ",<=" + to : ",<" + AboveMinor(*last);
  std::vector<std::string> versions;
  for (;;) {
    FLCE_TRY(const std::optional<std::string> found, Ask({source_.package, ">=" + from + below, false, false}));
    if (!found) break;
    versions.push_back(*found);
    const std::optional<Version> version = Version::Parse(*found);
    if (!version) return Error{ErrorKind::kData, "the package index answered with the version '" + *found + "'"};
    // Below the first there is nothing to ask for, and an installer calls such a range contradictory.
    const std::string bound = options_.every_patch ? version->Public() : Minor(*version);
    if (const std::optional<Version> next = Version::Parse(bound); !next || !(*first < *next)) break;
    below = ",<" + bound;
  }
  if (versions.empty()) return Unknown(from);
  std::reverse(versions.begin(), versions.end());
  return versions;
}

Result<std::vector<std::string>> Catalogue::Expand(const std::string& spec) {
  if (spec == "all") return Walk(source_.oldest, "");
  if (const size_t dots = spec.find(".."); dots != std::string::npos) return Walk(spec.substr(0, dots), spec.substr(dots + 2));
  FLCE_TRY(std::string version, Resolve(spec));
  return std::vector<std::string>{std::move(version)};
}

}  // namespace flce
