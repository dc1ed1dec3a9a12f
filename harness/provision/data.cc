#include "harness/provision/data.h"

#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace flce {
namespace {

constexpr int kFormat = 1;
using Json = nlohmann::ordered_json;

ReleaseSource ReadSource(const Json& json) {
  return {json.at("package").get<std::string>(), json.at("nightly_package").get<std::string>(), json.at("oldest").get<std::string>()};
}

}  // namespace

Result<ProvisionData> LoadProvisionData(const fs::path& file) {
  FLCE_TRY(const std::string text, ReadFile(file));
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat)
      return Error{ErrorKind::kData, file.string() + ": format " + json.at("format").dump() + ", this program reads " + std::to_string(kFormat)};
    ProvisionData data;
    data.torch = ReadSource(json.at("torch"));
    data.liger = ReadSource(json.at("liger"));
    for (const Json& package : json.at("always")) data.always.push_back(package.at("name").get<std::string>());
    data.nvidia_packages = json.at("nvidia_packages").get<std::vector<std::string>>();
    data.lean_bytes = json.at("space_bytes").at("lean").get<uint64_t>();
    data.full_bytes = json.at("space_bytes").at("full").get<uint64_t>();
    for (const Json& rule : json.at("stub_libraries"))
      data.stubs.push_back({rule.at("library").get<std::string>(), rule.at("symbols").get<std::vector<std::string>>(), rule.at("failure").get<int>()});
    data.text_results = json.at("stub_text_results").get<std::vector<std::string>>();
    return data;
  } catch (const Json::exception& error) {
    return Error{ErrorKind::kData, file.string() + ": " + error.what()};
  }
}

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0; });
}

}  // namespace flce
