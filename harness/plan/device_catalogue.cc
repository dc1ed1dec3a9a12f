#include "harness/plan/device_catalogue.h"

#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/model/json_reader.h"

namespace flce {
namespace {

constexpr int kDevicesFormat = 1;

bool IsCapability(std::string_view text) {
  const size_t dot = text.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 3 && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  return dot != std::string_view::npos && digits(text.substr(0, dot)) && digits(text.substr(dot + 1));
}

}  // namespace

Result<DeviceCatalogue> DeviceCatalogue::Load(const fs::path& file) {
  FLCE_TRY(const std::string text, ReadFile(file, 1 << 20));
  return Parse(text, "cases/" + file.filename().string());
}

Result<DeviceCatalogue> DeviceCatalogue::Parse(std::string_view text, const std::string& origin) {
  FLCE_TRY(const Json json, ParseJson(text, origin));
  JsonReader reader(json, origin);
  int format = 0;
  reader.Read("format", format);
  FLCE_TRY_DO(reader.status());
  if (format != kDevicesFormat) return Error{ErrorKind::kData, origin + ": member \"format\" must be " + std::to_string(kDevicesFormat)};
  DeviceCatalogue catalogue;
  std::set<std::string> ids;
  reader.ForEach("devices", [&](const Json& entry, const std::string& path) -> Status {
    DeviceProfile device;
    JsonReader item(entry, path);
    item.Read("id", device.id);
    item.Read("name", device.name);
    item.Read("capability", device.capability);
    item.Read("source", device.source);
    FLCE_TRY_DO(item.status());
    for (const auto& [key, value] : {std::pair{"id", &device.id}, {"name", &device.name}, {"source", &device.source}})
      if (value->empty()) return Error{ErrorKind::kData, path + ": member \"" + key + "\" must be a text"};
    if (!IsCapability(device.capability)) return Error{ErrorKind::kData, path + ": member \"capability\" must be a text such as \"8.9\""};
    if (!ids.insert(device.id).second) return Error{ErrorKind::kData, path + ": the id '" + device.id + "' is there twice"};
    device.document = entry.dump();
    catalogue.devices_.push_back(std::move(device));
    return Done{};
  });
  FLCE_TRY_DO(reader.status());
  if (catalogue.devices_.empty()) return Error{ErrorKind::kData, origin + ": no device"};
  return catalogue;
}

std::vector<std::string> DeviceCatalogue::Capabilities() const {
  std::vector<std::string> capabilities;
  for (const DeviceProfile& device : devices_) capabilities.push_back(device.capability);
  std::sort(capabilities.begin(), capabilities.end(),
            [](const std::string& a, const std::string& b) { return *Version::Parse(a) < *Version::Parse(b); });
  capabilities.erase(std::unique(capabilities.begin(), capabilities.end()), capabilities.end());
  return capabilities;
}

Result<const DeviceProfile*> DeviceCatalogue::Find(std::string_view text) const {
  for (const DeviceProfile& device : devices_)
    if (device.capability == text || device.id == text) return &device;
  if (IsCapability(text))
    return Error{ErrorKind::kUsage, "no card of capability " + std::string(text) + "; known: " + Join(Capabilities(), ", ")};
  std::vector<std::string> known;
  for (const DeviceProfile& device : devices_) known.push_back(device.id);
  return Error{ErrorKind::kUsage, UnknownName("card or capability", text, known)};
}

Result<DeviceSpec> DeviceCatalogue::Emulated(std::string_view text, int count) const {
  FLCE_TRY(const DeviceProfile* profile, Find(text));
  return DeviceSpec{DeviceKind::kEmulated, profile->capability, profile->id == text ? profile->id : "", count};
}

Result<const DeviceProfile*> DeviceCatalogue::ProfileOf(const DeviceSpec& spec) const {
  return Find(spec.id.empty() ? spec.capability : spec.id);
}

}  // namespace flce
