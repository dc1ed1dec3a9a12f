#include "harness/worker/zygote_protocol.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

Error BadMessage(const std::string& what) { return {ErrorKind::kData, "zygote: " + what}; }

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double Milli(double seconds) { return std::round(seconds * 1e3) / 1e3; }

Identity IdentityOf(const Json& object) {
  Identity identity;
  identity.python = Dump(object.value("python", Json()));
  if (auto entries = object.find("sys_path"); entries != object.end() && entries->is_array())
    for (const Json& entry : *entries) identity.sys_path.push_back(Dump(entry));
  Json hooks = Json::array(), module;
  if (auto fix = object.find("fix"); fix != object.end() && fix->is_object()) {
    hooks = fix->value("hooks", hooks);
    module = fix->value("python", module);
  }
  identity.changes = Dump(Json{hooks, module});
  return identity;
}

Result<std::map<std::string, std::string>> EnvironmentOf(const Json& object) {
  std::map<std::string, std::string> environment;
  auto found = object.find("environment");
  if (found == object.end()) return environment;
  if (!found->is_object()) return BadMessage("\"environment\" must be an object of strings");
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return BadMessage("\"environment." + name + "\" must be a string");
    environment[name] = value.get<std::string>();
  }
  return environment;
}

}  // namespace

bool Serves(const Identity& zygote, const Identity& cell) {
  return zygote.python == cell.python && zygote.changes == cell.changes && cell.sys_path.size() >= zygote.sys_path.size() &&
         std::equal(zygote.sys_path.rbegin(), zygote.sys_path.rend(), cell.sys_path.rbegin());
}

Result<StartLine> ParseStart(std::string_view line) {
  Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("start") || !object["start"].is_object()) {
    return BadMessage("the first line must hold \"start\"");
  }
  if (object.value("format", Json()) != Json(kZygoteFormat)) {
    return BadMessage("format " + Dump(object.value("format", Json())) + " is not known: this worker speaks " +
               std::to_string(kZygoteFormat));
  }
  const Json& start = object["start"];
  if (!start.value("python", Json()).is_string()) return BadMessage("\"start.python\" must be a string");
  if (!start.value("sys_path", Json()).is_array()) return BadMessage("\"start.sys_path\" must be a list of folders");
  StartLine result;
  result.python = start["python"].get<std::string>();
  result.text = Dump(start);
  result.identity = IdentityOf(start);
  for (const Json& entry : start["sys_path"]) {
    std::error_code ignored;
    if (entry.is_string() &&
        std::filesystem::is_regular_file(std::filesystem::path(entry.get<std::string>()) / "flce_worker/__init__.py", ignored)) {
      result.package_dir = entry.get<std::string>();
      return result;
    }
  }
  return BadMessage("no folder of \"start.sys_path\" holds the package flce_worker");
}

Result<std::variant<CellLine, CancelLine>> ParseLine(std::string_view line) {
  Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return BadMessage("a line is not a JSON object");
  if (auto cancel = object.find("cancel"); cancel != object.end()) {
    if (!cancel->is_string()) return BadMessage("\"cancel\" must be a cell id");
    return std::variant<CellLine, CancelLine>(CancelLine{cancel->get<std::string>()});
  }
  CellLine cell;
  FLCE_TRY(cell.request, ParseRequest(line));
  FLCE_TRY(cell.environment, EnvironmentOf(object));
  cell.identity = IdentityOf(object);
  cell.device_kind = object["device"]["kind"].get<std::string>();
  cell.device = Dump(object["device"]);
  cell.device_key = cell.device;
  cell.deadline_s = cell.request.deadline_s;
  if (auto limits = object.find("limits"); limits != object.end() && limits->is_object()) {
    if (auto memory = limits->find("memory_bytes"); memory != limits->end() && memory->is_number_unsigned()) {
      cell.memory_bytes = memory->get<uint64_t>();
    }
  }
  return std::variant<CellLine, CancelLine>(std::move(cell));
}

std::string CellIdOf(std::string_view line) {
  Json object = Json::parse(line, nullptr, false);
  if (!object.is_object() || !object.value("cell_id", Json()).is_string()) return "";
  return object["cell_id"].get<std::string>();
}

std::string Format(const CellEnd& end) {
  Json exit;
  switch (end.kind) {
    case CellEnd::Kind::kCode:
      exit["code"] = end.value;
      break;
    case CellEnd::Kind::kSignal:
      exit["signal"] = end.value;
      break;
    case CellEnd::Kind::kTimedOut:
      exit["timed_out"] = true;
      break;
    case CellEnd::Kind::kOutOfMemory:
      exit["out_of_memory"] = true;
      break;
    case CellEnd::Kind::kCancelled:
      exit["cancelled"] = true;
      break;
  }
  return Dump(Json{{"cell_id", end.cell_id},
                   {"exit", exit},
                   {"seconds", Milli(end.seconds)},
                   {"max_rss_bytes", end.max_rss_bytes}});
}

std::string FormatRefused(std::string_view cell_id, std::string_view why) {
  return Dump(Json{{"cell_id", cell_id}, {"refused", why}});
}

std::string FormatLost(std::string_view cell_id, std::string_view why) {
  return Dump(Json{{"cell_id", cell_id}, {"lost", why}});
}

std::string FormatReady(double seconds, const std::string& versions_json) {
  return Dump(Json{{"ready", true},
                   {"pid", static_cast<int64_t>(getpid())},
                   {"seconds", Milli(seconds)},
                   {"versions", Json::parse(versions_json, nullptr, false)}});
}

std::string FormatNotReady(std::string_view error) {
  return Dump(Json{{"ready", false}, {"error", ToValidUtf8(error)}});
}

}  // namespace flce::worker
