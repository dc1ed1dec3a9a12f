#include "harness/provision/lock.h"

#include <sys/stat.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "harness/base/sha256.h"
#include "harness/base/text.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

/// The text between the quotes that follow `key = ` in `line`, "" when the key is absent.
std::string Quoted(std::string_view line, std::string_view key) {
  const std::string lead = std::string(key) + " = \"";
  const size_t at = line.find(lead);
  if (at == std::string_view::npos) return "";
  line.remove_prefix(at + lead.size());
  return std::string(line.substr(0, line.find('"')));
}

uint64_t Number(std::string_view line, std::string_view key) {
  const std::string lead = std::string(key) + " = ";
  const size_t at = line.find(lead);
  uint64_t number = 0;
  if (at != std::string_view::npos) std::from_chars(line.data() + at + lead.size(), line.data() + line.size(), number);
  return number;
}

/// "%2B" of a URL's last part is a "+" in the file's name (local versions).
std::string FileName(const std::string& url) {
  std::string name = url.substr(url.rfind('/') + 1);
  name = name.substr(0, name.find('#'));
  return ReplaceAll(ReplaceAll(name, "%2B", "+"), "%2b", "+");
}

/// The size of a wheel in a local folder, which uv does not write down.
uint64_t LocalSize(const std::string& url) {
  constexpr std::string_view kScheme = "file://";
  struct stat info {};
  if (url.compare(0, kScheme.size(), kScheme) != 0 || ::stat(url.substr(kScheme.size()).c_str(), &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_size);
}

/// Without the "user:password@" of a private index.
std::string WithoutCredentials(std::string url) {
  const size_t host = url.find("://");
  if (host == std::string::npos) return url;
  const size_t end = url.find('/', host + 3), at = url.rfind('@', end);
  if (at != std::string::npos && at > host) url.erase(host + 3, at + 1 - (host + 3));
  return url;
}

void ReadWheel(std::string_view entry, LockedPackage& package) {
  package.url = WithoutCredentials(Quoted(entry, "url"));
  if (package.url.empty()) package.url = Quoted(entry, "path");
  package.file = FileName(package.url);
  package.sha256 = Quoted(entry, "sha256");
  package.size = Number(entry, "size");
  if (package.size == 0) package.size = LocalSize(package.url);
}

}  // namespace

// uv writes one key a line, and the wheels either on one line or one a line within brackets.
Result<std::vector<LockedPackage>> ParsePylock(std::string_view toml) {
  std::vector<LockedPackage> packages;
  bool in_wheels = false;
  for (const std::string_view line : Lines(toml)) {
    if (Trim(line) == "[[packages]]") {
      packages.emplace_back();
      in_wheels = false;
    } else if (!packages.empty()) {
      LockedPackage& package = packages.back();
      if (line.rfind("name = ", 0) == 0) package.name = Quoted(line, "name");
      if (line.rfind("version = ", 0) == 0) package.version = Quoted(line, "version");
      if (line.rfind("wheels = ", 0) == 0) in_wheels = true;
      if (in_wheels && package.url.empty() && line.find('{') != std::string_view::npos) ReadWheel(line, package);
      if (in_wheels && line.find(']') != std::string_view::npos) in_wheels = false;
    }
  }
  for (const LockedPackage& package : packages) {
    const std::string label = package.name + " " + package.version;
    if (package.url.empty()) return Error{ErrorKind::kData, "the index has no wheel of " + label + " for this interpreter"};
    if (package.sha256.empty()) return Error{ErrorKind::kData, "the index gives no SHA-256 for " + package.url + " (" + label + ")"};
  }
  if (packages.empty()) return Error{ErrorKind::kData, "uv resolved no package"};
  return packages;
}

std::string RequirementsText(const std::vector<LockedPackage>& packages) {
  std::string text;
  for (const LockedPackage& package : packages)
    text += package.name + "==" + package.version + " --hash=sha256:" + package.sha256 + "\n";
  return text;
}

std::string LockDigest(const std::vector<LockedPackage>& packages) { return Sha256Hex(RequirementsText(packages)); }

Json LockToJson(const std::vector<LockedPackage>& packages) {
  Json list = Json::array();
  for (const LockedPackage& p : packages)
    list.push_back({{"name", p.name}, {"version", p.version}, {"file", p.file}, {"url", p.url}, {"sha256", p.sha256}, {"size", p.size}});
  return {{"format", 1}, {"sha256", LockDigest(packages)}, {"packages", std::move(list)}};
}

Result<std::vector<LockedPackage>> LockFromJson(const Json& json) {
  try {
    std::vector<LockedPackage> packages;
    for (const Json& p : json.at("packages"))
      packages.push_back({p.at("name").get<std::string>(), p.at("version").get<std::string>(), p.at("file").get<std::string>(),
                          p.at("url").get<std::string>(), p.at("sha256").get<std::string>(), p.at("size").get<uint64_t>()});
    if (json.at("sha256") != LockDigest(packages)) return Error{ErrorKind::kData, "lock: the packages do not match their SHA-256"};
    return packages;
  } catch (const Json::exception& error) {
    return Error{ErrorKind::kData, std::string("lock: ") + error.what()};
  }
}

}  // namespace flce
