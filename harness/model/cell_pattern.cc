#include "harness/model/cell_pattern.h"

#include <fnmatch.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

const std::vector<std::string>& Members() {
  static const std::vector<std::string> members = {"case", "fix", "torch", "liger", "capability", "device"};
  return members;
}

bool Constrains(const VersionRange& range) { return !range.text().empty() && range.text() != "*"; }

bool InRange(const VersionRange& range, const std::optional<Version>& version) {
  return !Constrains(range) || (version && range.Contains(*version));
}

Result<NamePattern> ReadNames(const Json& value, const std::string& path) {
  if (value.is_string()) return NamePattern{{value.get<std::string>()}};
  NamePattern names;
  if (!value.is_array() || value.empty()) return Error{ErrorKind::kData, path + ": expected a name or a list of names"};
  for (const Json& entry : value) {
    if (!entry.is_string()) return Error{ErrorKind::kData, path + ": expected a name or a list of names"};
    names.entries.push_back(entry.get<std::string>());
  }
  return names;
}

Result<VersionRange> ReadRange(const Json& value, const std::string& path) {
  if (!value.is_string()) return Error{ErrorKind::kData, path + ": expected a version range such as \">=2.8,<2.13\""};
  Result<VersionRange> range = VersionRange::Parse(value.get<std::string>());
  if (!range) return Error{ErrorKind::kData, path + ": " + range.error().message};
  return range;
}

Json NamesJson(const NamePattern& names) {
  if (names.entries.size() == 1) return names.entries.front();
  return names.entries;
}

}  // namespace

CellFacts FactsOf(const Cell& cell) {
  return {cell.case_name, cell.fix, Version::Parse(cell.torch), Version::Parse(cell.liger), Version::Parse(cell.device.capability),
          cell.device.kind};
}

CellFacts FactsOf(const CellRecord& cell) {
  return {cell.case_name, cell.fix, Version::Parse(cell.torch), Version::Parse(cell.liger), Version::Parse(cell.capability),
          cell.device_kind};
}

bool NamePattern::Matches(const std::string& name) const {
  bool any_plain = false, hit = false;
  for (const std::string& entry : entries) {
    const bool excludes = !entry.empty() && entry[0] == '!';
    const bool matches = ::fnmatch(entry.c_str() + (excludes ? 1 : 0), name.c_str(), 0) == 0;
    if (excludes && matches) return false;
    if (!excludes) any_plain = true, hit |= matches;
  }
  return hit || !any_plain;
}

bool CellPattern::Matches(const CellFacts& facts) const {
  return case_name.Matches(facts.case_name) && fix.Matches(facts.fix) && InRange(torch, facts.torch) && InRange(liger, facts.liger) &&
         InRange(capability, facts.capability) && (!device || *device == facts.device);
}

Result<CellPattern> CellPattern::FromJson(const Json& json, const std::string& path) {
  CellPattern pattern;
  if (!json.is_object()) return Error{ErrorKind::kData, path + ": expected an object"};
  for (const auto& [key, value] : json.items()) {
    const std::string where = path + "." + key;
    if (key == "case") {
      FLCE_TRY(pattern.case_name, ReadNames(value, where));
    } else if (key == "fix") {
      FLCE_TRY(pattern.fix, ReadNames(value, where));
    } else if (key == "torch") {
      FLCE_TRY(pattern.torch, ReadRange(value, where));
    } else if (key == "liger") {
      FLCE_TRY(pattern.liger, ReadRange(value, where));
    } else if (key == "capability") {
      FLCE_TRY(pattern.capability, ReadRange(value, where));
    } else if (key == "device") {
      pattern.device = value.is_string() ? ParseDeviceKind(value.get<std::string>()) : std::nullopt;
      if (!pattern.device) return Error{ErrorKind::kData, where + ": expected emulated or cuda"};
    } else {
      return Error{ErrorKind::kData, path + ": " + UnknownName("member", key, Members())};
    }
  }
  return pattern;
}

Result<CellPattern> CellPattern::Parse(std::string_view text) {
  const auto bad = [&](const std::string& what) {
    return Error{ErrorKind::kUsage, "pattern '" + std::string(text) + "': " + what};
  };
  std::string normal(text);
  std::replace(normal.begin(), normal.end(), ' ', ';');
  Json json = Json::object();
  for (const std::string& piece : Split(normal, ';')) {
    if (piece.empty()) continue;
    const size_t at = piece.find_first_of("=<>!");
    if (at == std::string::npos || at == 0) return bad("'" + piece + "' is not a term such as torch<2.8 or case=flce-*");
    const std::string key = piece.substr(0, at);
    std::string rest = piece.substr(at);
    if (std::find(Members().begin(), Members().end(), key) == Members().end()) return bad(UnknownName("axis", key, Members()));
    if (json.contains(key)) return bad("'" + key + "' is given twice; write its comparisons with a comma (torch>=2.8,<2.13)");
    if (key == "torch" || key == "liger" || key == "capability") {
      // "=2.8" and "2.8" are the range "==2.8".
      if (rest[0] == '=' && (rest.size() < 2 || rest[1] != '=')) rest = "=" + rest;
      json[key] = rest;
    } else {
      if (rest[0] != '=' && rest.substr(0, 2) != "!=") return bad("'" + piece + "' compares a name; use = or !=");
      const bool excludes = rest[0] == '!';
      const std::string names = rest.substr(excludes ? 2 : rest.substr(0, 2) == "==" ? 2 : 1);
      if (key == "device") {
        if (excludes) return bad("'" + piece + "': use device=emulated or device=cuda");
        json[key] = names;
      } else {
        json[key] = Json::array();
        for (const std::string& name : Split(names, '|')) json[key].push_back((excludes ? "!" : "") + name);
      }
    }
  }
  if (json.empty()) return bad("is empty");
  Result<CellPattern> pattern = FromJson(json, "pattern");
  if (!pattern) return bad(pattern.error().message);
  return pattern;
}

Json CellPattern::ToJson() const {
  Json json = Json::object();
  if (!case_name.entries.empty()) json["case"] = NamesJson(case_name);
  if (!fix.entries.empty()) json["fix"] = NamesJson(fix);
  if (Constrains(torch)) json["torch"] = torch.text();
  if (Constrains(liger)) json["liger"] = liger.text();
  if (Constrains(capability)) json["capability"] = capability.text();
  if (device) json["device"] = Text(*device);
  return json;
}

}  // namespace flce
