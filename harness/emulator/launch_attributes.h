#pragma once

#include "harness/emulator/abi_structs.h"
#include "harness/emulator/modules.h"
#include "harness/emulator/profile.h"
#include "harness/emulator/status.h"

namespace flce::emulator {

/// What the attributes of an extended launch ask for.
struct LaunchOptions {
  Status status = Status::kSuccess;
  bool cooperative = false;
  int unknown = 0;  ///< not 0: an attribute that is not emulated
};
LaunchOptions ReadLaunchAttributes(const DeviceProfile& profile, const LaunchAttribute* attributes, unsigned count);

/// Sets a CUfunction_attribute. `known` is false for one that is not emulated.
struct FunctionAttributeResult {
  bool known;
  Status status;
};
FunctionAttributeResult SetFunctionAttribute(const DeviceProfile& profile, Kernel& kernel, int attribute, int value);

/// The value of a CUfunction_attribute; false for one that is not emulated.
bool GetFunctionAttribute(const DeviceProfile& profile, Kernel& kernel, int attribute, int* value);

/// 10 * major + minor of the code of `kernel` that runs on this device.
int BinaryVersion(const DeviceProfile& profile, Kernel& kernel);

}  // namespace flce::emulator
