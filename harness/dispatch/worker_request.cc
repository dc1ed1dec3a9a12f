#include "harness/dispatch/worker_request.h"

#include <algorithm>
#include <array>

#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kFormat = 1;

/// Members of a device's entry that describe it to people and are no property of the card.
constexpr std::array kNotProperties = {"id", "source", "notes", "count"};

Result<Json> ParseObject(const std::string& document, const char* what) {
  FLCE_TRY(Json json, ParseJson(document, what));
  if (!json.is_object()) return Error{ErrorKind::kData, std::string(what) + ": expected an object"};
  return json;
}

}  // namespace

Result<Json> ToJson(const WorkerRequest& request) {
  FLCE_TRY(const Json whole_case, ParseObject(request.case_document, "case"));
  // Titles and reasons are for people; the worker gets what it acts on.
  Json case_json = Json::object();
  for (const auto& [key, value] : whole_case.items())
    if (key != "format" && key != "title" && key != "why" && key != "tags" && key != "shape" && key != "packages") case_json[key] = value;
  Json shape = whole_case.contains("shape") ? whole_case["shape"] : Json(nullptr);
  if (request.shape) shape = {{"bt", request.shape->bt}, {"h", request.shape->h}, {"v", request.shape->v}};

  Json profile = nullptr;
  if (!request.profile_document.empty()) {
    FLCE_TRY(profile, ParseObject(request.profile_document, "device profile"));
  }
  Json hooks = Json::array();
  for (const ImportHook& hook : request.fix.hooks) hooks.push_back({{"module", hook.module}, {"file", hook.file.string()}});
  Json sys_path = Json::array();
  for (const fs::path& folder : request.sys_path) sys_path.push_back(folder.string());
  Json timing = nullptr;
  if (request.timing) timing = {{"warmups", request.timing->warmups}, {"runs", request.timing->runs}};
  return Json{
      {"format", kFormat},
      {"cell_id", request.cell_id},
      {"output_dir", request.output_dir.string()},
      {"python", request.python.string()},
      {"sys_path", std::move(sys_path)},
      {"case", std::move(case_json)},
      {"shape", std::move(shape)},
      {"seed", request.seed},
      {"fix",
       {{"name", request.fix.name}, {"hooks", std::move(hooks)}, {"python", request.fix.python.empty() ? Json(nullptr) : Json(request.fix.python)}}},
      {"device",
       {{"kind", Text(request.device.kind)},
        {"capability", request.device.capability},
        {"profile", std::move(profile)},
        {"count", request.device.count}}},
      {"measure", {{"tensors", request.tensors}, {"memory_blocks", request.memory_blocks}, {"poison", request.poison}, {"timing", std::move(timing)}}},
      {"limits", {{"deadline_s", request.deadline_s}}},
  };
}

Result<std::string> EmulatorProfileText(const std::string& profile_document, int count) {
  if (profile_document.empty()) return std::string();
  FLCE_TRY(const Json profile, ParseObject(profile_document, "device profile"));
  std::string text;
  for (const auto& [key, value] : profile.items()) {
    if (std::find(kNotProperties.begin(), kNotProperties.end(), key) != kNotProperties.end()) continue;
    if (value.is_structured() || value.is_null()) continue;
    text += key + "=";
    if (value.is_string()) {
      text += value.get<std::string>();
    } else if (value.is_boolean()) {
      text += value.get<bool>() ? "1" : "0";
    } else {
      text += value.dump();
    }
    text += ";";
  }
  return text + "count=" + std::to_string(count);
}

}  // namespace flce
