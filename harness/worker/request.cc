#include "harness/worker/request.h"

#include <nlohmann/json.hpp>

#include "harness/base/files.h"

namespace flce::worker {
namespace {

using Json = nlohmann::ordered_json;

Error Bad(const std::string& what) { return {ErrorKind::kData, "worker request: " + what}; }

// The field at `name` if it has the type that `Is` tests, else null.
const Json* Field(const Json& object, const char* name, bool (Json::*is)() const noexcept) {
  auto found = object.find(name);
  return found != object.end() && ((*found).*is)() ? &*found : nullptr;
}

Result<std::string> Text(const Json& object, const char* name) {
  const Json* field = Field(object, name, &Json::is_string);
  if (field == nullptr) return Bad(std::string("\"") + name + "\" must be a string");
  return field->get<std::string>();
}

// What the Python side reads without asking: absent parts would be an error of the driver, told here by name.
Status CheckParts(const Json& object) {
  for (const char* name : {"case", "shape", "device", "measure"}) {
    if (Field(object, name, &Json::is_object) == nullptr) return Bad(std::string("\"") + name + "\" must be an object");
  }
  const Json& part = object["case"];
  for (const char* name : {"name", "module", "function"}) {
    if (Field(part, name, &Json::is_string) == nullptr) return Bad(std::string("\"case.") + name + "\" must be a string");
  }
  if (Field(part, "compile", &Json::is_object) == nullptr) return Bad("\"case.compile\" must be an object");
  const Json* kind = Field(object["device"], "kind", &Json::is_string);
  if (kind == nullptr || (*kind != "emulated" && *kind != "cuda")) {
    return Bad("\"device.kind\" must be \"emulated\" or \"cuda\"");
  }
  if (Field(object, "seed", &Json::is_number_integer) == nullptr) return Bad("\"seed\" must be an integer");
  return Done{};
}

Result<fs::path> PackageDir(const Json& object) {
  const Json* entries = Field(object, "sys_path", &Json::is_array);
  if (entries == nullptr) return Bad("\"sys_path\" must be a list of folders");
  for (const Json& entry : *entries) {
    if (!entry.is_string()) return Bad("\"sys_path\" must be a list of folders");
    fs::path folder = entry.get<std::string>();
    std::error_code ignored;
    if (fs::is_regular_file(folder / "flce_worker" / "__init__.py", ignored)) return folder;
  }
  return Bad("no folder of \"sys_path\" holds the package flce_worker");
}

}  // namespace

Result<Request> ParseRequest(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Bad("not a JSON object");
  const Json* format = Field(object, "format", &Json::is_number_integer);
  if (format == nullptr) return Bad("\"format\" must be an integer");
  if (*format != kRequestFormat) {
    bool newer = format->get<int64_t>() > kRequestFormat;
    return Bad("format " + format->dump() + " is too " + (newer ? "new" : "old") + ": this worker reads " +
               std::to_string(kRequestFormat));
  }

  Request request;
  request.text = text;
  FLCE_TRY(request.cell_id, Text(object, "cell_id"));
  FLCE_TRY(request.output_dir, Text(object, "output_dir"));
  FLCE_TRY(request.python, Text(object, "python"));
  std::error_code ignored;
  if (!request.output_dir.is_absolute() || !fs::is_directory(request.output_dir, ignored)) {
    return Bad("\"output_dir\" is not an existing folder with an absolute path: " + request.output_dir.string());
  }
  if (!request.python.is_absolute()) return Bad("\"python\" must be an absolute path: " + request.python.string());
  FLCE_TRY([[maybe_unused]] Done checked, CheckParts(object));
  FLCE_TRY(request.package_dir, PackageDir(object));
  if (const Json* limits = Field(object, "limits", &Json::is_object)) {
    if (const Json* deadline = Field(*limits, "deadline_s", &Json::is_number)) request.deadline_s = deadline->get<double>();
  }
  return request;
}

Result<Request> ReadRequest(const fs::path& file) {
  FLCE_TRY(std::string text, ReadFile(file, uint64_t{16} << 20));
  return ParseRequest(text);
}

}  // namespace flce::worker
