#include "harness/plan/case_catalogue.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kFormat = 1;
constexpr uint64_t kLargestFile = 1 << 20;

Error Bad(const std::string& origin, const std::string& what) { return {ErrorKind::kData, origin + ": " + what}; }

bool IsName(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_' || c == '.';
  });
}

/// "name==version", as an index writes them: what is installed must not depend on the day.
bool IsPinned(const std::string& text) {
  const size_t at = text.find("==");
  const auto holds = [](std::string_view part, std::string_view further) {
    return !part.empty() && std::isalnum(static_cast<unsigned char>(part.front())) && std::all_of(part.begin(), part.end(), [&](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || further.find(static_cast<char>(c)) != std::string_view::npos;
    });
  };
  return at != std::string::npos && holds(std::string_view(text).substr(0, at), "-._") && holds(std::string_view(text).substr(at + 2), ".+!");
}

/// No other member: a misspelt one would be silently without effect.
Status CheckMembers(const Json& json, const std::string& origin) {
  static const std::vector<std::string> kMembers = {"format", "name",       "title", "why",  "module",           "function",   "parameters", "shape",
                                                    "compile", "call", "reproduces", "kind", "expects_backward", "deadline_s", "tags", "packages"};
  for (const auto& [key, value] : json.items())
    if (std::find(kMembers.begin(), kMembers.end(), key) == kMembers.end()) return Bad(origin, UnknownName("member", key, kMembers));
  return Done{};
}

/// Members that must be there, by type.
Status CheckShape(const Json& json, const std::string& origin) {
  for (const char* key : {"name", "title", "why", "module", "function", "kind"})
    if (!json.contains(key) || !json[key].is_string() || json[key].get_ref<const std::string&>().empty())
      return Bad(origin, std::string("member \"") + key + "\" must be a text");
  for (const char* key : {"parameters", "shape", "compile"})
    if (!json.contains(key) || !json[key].is_object()) return Bad(origin, std::string("member \"") + key + "\" must be an object");
  // A case without a call in question (a control) says so with null.
  if (!json.contains("call") || !(json["call"].is_object() || json["call"].is_null()))
    return Bad(origin, "member \"call\" must be an object or null");
  for (const char* key : {"bt", "h", "v"}) {
    const Json& shape = json["shape"];
    if (!shape.contains(key) || !shape[key].is_number_integer() || shape[key].get<int64_t>() < 1)
      return Bad(origin, std::string("member \"shape.") + key + "\" must be a positive whole number");
  }
  return Done{};
}

}  // namespace

bool CaseFile::HasTag(std::string_view tag) const { return std::find(tags.begin(), tags.end(), tag) != tags.end(); }

Result<CaseFile> ParseCase(std::string_view text, const std::string& origin) {
  FLCE_TRY(const Json json, ParseJson(text, origin));
  if (!json.is_object()) return Bad(origin, "expected an object");
  int format = 0;
  JsonReader reader(json, origin);
  reader.Read("format", format);
  if (format != kFormat)
    return Bad(origin, "member \"format\" is " + std::to_string(format) + (format > kFormat ? ", too new" : "") + "; this program reads " +
                           std::to_string(kFormat));
  FLCE_TRY_DO(CheckMembers(json, origin));
  FLCE_TRY_DO(CheckShape(json, origin));
  CaseFile item;
  reader.Read("name", item.name);
  reader.Read("title", item.title);
  reader.Read("why", item.why);
  reader.Read("module", item.module);
  reader.Read("function", item.function);
  reader.Read("kind", item.kind);
  reader.Read("expects_backward", item.expects_backward);
  reader.Read("tags", item.tags);
  if (const Json* packages = reader.Member("packages")) {
    if (!packages->is_array() || !std::all_of(packages->begin(), packages->end(), [](const Json& entry) { return entry.is_string(); }))
      return Bad(origin, "member \"packages\" must be a list of texts");
    item.packages = packages->get<std::vector<std::string>>();
  }
  reader.Read("deadline_s", item.deadline_s);
  FLCE_TRY_DO(reader.status());
  for (const std::string& package : item.packages)
    if (!IsPinned(package)) return Bad(origin, "member \"packages\": '" + package + "' must be a name and an exact release, \"name==1.2.3\"");
  if (!IsName(item.name)) return Bad(origin, "member \"name\": '" + item.name + "' may hold only a-z, 0-9, '-', '_' and '.'");
  const Json& shape = json["shape"];
  item.shape = {shape["bt"].get<int64_t>(), shape["h"].get<int64_t>(), shape["v"].get<int64_t>()};
  item.document = std::string(text);
  return item;
}

Result<CaseCatalogue> CaseCatalogue::Load(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == ".json") files.push_back(it->path());
  if (code) return Error{ErrorKind::kNotFound, "cannot read the cases in " + folder.string() + ": " + code.message()};
  std::sort(files.begin(), files.end());

  CaseCatalogue catalogue;
  std::map<std::string, std::string> file_of;
  for (const fs::path& file : files) {
    FLCE_TRY(const std::string text, ReadFile(file, kLargestFile));
    const std::string origin = "cases/" + file.filename().string();
    FLCE_TRY(const Json json, ParseJson(text, origin));
    if (!json.is_object() || !(json.contains("module") || json.contains("function"))) continue;
    FLCE_TRY(CaseFile item, ParseCase(text, origin));
    item.file = file;
    item.sources = {file};
    const fs::path module = folder / (ReplaceAll(item.module, ".", "/") + ".py");
    if (fs::exists(module, code)) item.sources.push_back(module);
    const auto [it, fresh] = file_of.emplace(item.name, origin);
    if (!fresh) return Bad(origin, "the name '" + item.name + "' is already that of " + it->second);
    catalogue.cases_.push_back(std::move(item));
  }
  if (catalogue.cases_.empty()) return Error{ErrorKind::kNotFound, "no case in " + folder.string()};
  std::sort(catalogue.cases_.begin(), catalogue.cases_.end(), [](const CaseFile& a, const CaseFile& b) { return a.name < b.name; });
  return catalogue;
}

Result<const CaseFile*> CaseCatalogue::Find(std::string_view name) const {
  std::vector<std::string> known;
  for (const CaseFile& item : cases_) {
    if (item.name == name) return &item;
    known.push_back(item.name);
  }
  return Error{ErrorKind::kUsage, UnknownName("case", name, known)};
}

Result<std::vector<const CaseFile*>> CaseCatalogue::Select(std::string_view pattern) const {
  std::vector<const CaseFile*> selected;
  if (pattern.find('*') == std::string_view::npos) {
    FLCE_TRY(const CaseFile* item, Find(pattern));
    return std::vector<const CaseFile*>{item};
  }
  for (const CaseFile& item : cases_)
    if (::fnmatch(std::string(pattern).c_str(), item.name.c_str(), 0) == 0) selected.push_back(&item);
  if (selected.empty()) return Error{ErrorKind::kUsage, "no case matches '" + std::string(pattern) + "'"};
  return selected;
}

}  // namespace flce
