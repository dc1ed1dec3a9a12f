#pragma once

#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/model/cell.h"

namespace flce {

/// A card that the emulated device can pretend to be.
struct DeviceProfile {
  std::string id;          ///< "l4"
  std::string name;        ///< "NVIDIA L4"
  std::string capability;  ///< "8.9"
  std::string source;      ///< where the figures come from
  std::string document;    ///< the whole entry as JSON: the worker's request and the emulator's profile are made of it
};

/// cases/devices.json (format 1). The first entry of a capability is its default.
class DeviceCatalogue {
 public:
  /// kData names the entry and the member.
  static Result<DeviceCatalogue> Load(const fs::path& file);
  static Result<DeviceCatalogue> Parse(std::string_view text, const std::string& origin);

  const std::vector<DeviceProfile>& devices() const { return devices_; }
  std::vector<std::string> Capabilities() const;  ///< ascending, each once

  /// A capability ("8.9": its default card) or an id ("l4"). kUsage in one line with the known ones.
  Result<const DeviceProfile*> Find(std::string_view capability_or_id) const;
  /// The device of an emulated cell: `id` is set only if `text` named a card, so that ids of cells stay short.
  Result<DeviceSpec> Emulated(std::string_view text, int count = 1) const;
  /// The profile a cell's device stands for.
  Result<const DeviceProfile*> ProfileOf(const DeviceSpec& spec) const;

 private:
  std::vector<DeviceProfile> devices_;
};

}  // namespace flce
