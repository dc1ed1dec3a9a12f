#include "harness/emulator/launch_attributes.h"

#include <algorithm>

namespace flce::emulator {

LaunchOptions ReadLaunchAttributes(const DeviceProfile& profile, const LaunchAttribute* attributes, unsigned count) {
  LaunchOptions options;
  if (attributes == nullptr && count != 0) {
    options.status = Status::kInvalidValue;
    return options;
  }
  for (unsigned i = 0; i < count; ++i) {
    const LaunchAttribute& attribute = attributes[i];
    switch (attribute.id) {
      case 0:   // ignore
      case 1:   // access policy window
      case 3:   // synchronisation policy
      case 5:   // cluster scheduling preference
      case 6:   // programmatic stream serialisation: a freedom, not a demand
      case 8:   // priority
      case 9:   // memory synchronisation domains
      case 10:
      case 14:  // shared memory carve-out preference
        break;
      case 2:
        options.cooperative = attribute.value.flag != 0;
        break;
      case 4: {  // cluster dimensions
        const unsigned* size = attribute.value.dimensions;
        const std::uint64_t blocks = static_cast<std::uint64_t>(size[0]) * size[1] * size[2];
        if (blocks > 1 && profile.major < 9) options.status = Status::kNotSupported;
        if (blocks == 0 || blocks > 16) options.status = Status::kInvalidClusterSize;
        break;
      }
      default:
        options.unknown = attribute.id;
        return options;
    }
  }
  return options;
}

FunctionAttributeResult SetFunctionAttribute(const DeviceProfile& profile, Kernel& kernel, int attribute, int value) {
  switch (attribute) {
    case 8: {  // dynamic shared memory
      const int most = profile.shared_memory_optin - kernel.code.static_shared_bytes;
      if (value < 0 || value > most) return {true, Status::kInvalidValue};
      kernel.max_dynamic_shared = value;
      return {true, Status::kSuccess};
    }
    case 9:  // carve-out, in percent
      return {true, value >= -1 && value <= 100 ? Status::kSuccess : Status::kInvalidValue};
    case 14:  // clusters larger than every device supports
      return {true, Status::kSuccess};
    default:
      return {false, Status::kNotSupported};
  }
}

int BinaryVersion(const DeviceProfile& profile, Kernel& kernel) {
  int version = 0;
  for (const ImageArch& arch : kernel.module->image().archs) {
    // PTX is compiled for the device it runs on.
    if (arch.RunsOn(profile.capability())) version = std::max(version, arch.ptx ? profile.capability() : arch.sm);
  }
  return version;
}

bool GetFunctionAttribute(const DeviceProfile& profile, Kernel& kernel, int attribute, int* value) {
  switch (attribute) {
    case 0:  // threads per block
      *value = 1024;
      return true;
    case 1:
      *value = kernel.code.static_shared_bytes;
      return true;
    case 2:  // constant memory
    case 7:  // cache mode
      *value = 0;
      return true;
    case 3:
      *value = kernel.code.local_bytes;
      return true;
    case 4:
      *value = kernel.code.registers;
      return true;
    case 5:
    case 6:
      *value = BinaryVersion(profile, kernel);
      return true;
    case 8:
      *value = kernel.max_dynamic_shared;
      return true;
    case 9:
      *value = -1;
      return true;
    default:
      return false;
  }
}

}  // namespace flce::emulator
