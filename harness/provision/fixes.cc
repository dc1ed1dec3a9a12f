#include "harness/provision/fixes.h"

#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 1;

FixDescription ReadFix(const Json& json, const fs::path& folder) {
  FixDescription fix;
  fix.name = json.at("name").get<std::string>();
  fix.title = json.at("title").get<std::string>();
  fix.target = json.at("target").get<std::string>();
  fix.kind = json.at("kind").get<std::string>();
  for (const Json& file : json.at("files")) fix.files.push_back(folder / file.get<std::string>());
  if (fix.kind == "python") fix.python_module = json.at("python").get<std::string>();
  for (const Json& need : json.value("requires", Json::array()))
    fix.requirements.push_back({need.at("file").get<std::string>(), need.at("contains").get<std::string>(), need.at("otherwise").get<std::string>()});
  return fix;
}

bool IsFile(const std::string& text) {
  const std::string extension = fs::path(text).extension().string();
  return text.find('/') != std::string::npos || extension == ".diff" || extension == ".patch";
}

}  // namespace

Result<std::vector<FixDescription>> LoadFixes(const fs::path& cases_dir) {
  const fs::path folder = cases_dir / "fixes", file = folder / "fixes.json";
  FLCE_TRY(const std::string text, ReadFile(file));
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat) return Error{ErrorKind::kData, file.string() + ": format " + json.at("format").dump() + ", this program reads 1"};
    std::vector<FixDescription> fixes;
    for (const Json& fix : json.at("fixes")) fixes.push_back(ReadFix(fix, folder));
    return fixes;
  } catch (const Json::exception& error) {
    return Error{ErrorKind::kData, file.string() + ": " + error.what()};
  }
}

Result<FixDescription> FindFix(const std::string& name_or_file, const fs::path& cases_dir) {
  if (IsFile(name_or_file)) {
    std::error_code code;
    const fs::path file = fs::absolute(name_or_file).lexically_normal();
    if (!fs::is_regular_file(file, code)) return Error{ErrorKind::kNotFound, "no such diff: " + name_or_file};
    return FixDescription{file.stem().string(), "the diff " + file.filename().string(), "", "diff", {file}, "", {}};
  }
  if (name_or_file == "none") return FixDescription{"none", "as released", "none", "none", {}, "", {}};
  FLCE_TRY(const std::vector<FixDescription> fixes, LoadFixes(cases_dir));
  std::vector<std::string> names = {"none"};
  for (const FixDescription& fix : fixes) {
    if (fix.name == name_or_file) return fix;
    if (fix.name != "none") names.push_back(fix.name);
  }
  return Error{ErrorKind::kNotFound, UnknownName("fix", name_or_file, names)};
}

}  // namespace flce
