#pragma once

#include <optional>

#include "harness/emulator/abi.h"
#include "harness/emulator/profile.h"

namespace flce::emulator {

/// The value of a device attribute (CUdevice_attribute and cudaDeviceAttr share their numbers); nothing when the number
/// is not known here.
std::optional<int> DeviceAttribute(const DeviceProfile& profile, int attribute, int device);

void FillProperties(const DeviceProfile& profile, int device, DeviceProp12& properties);
void FillProperties(const DeviceProfile& profile, int device, DeviceProp13& properties);

/// 16 bytes that tell the devices of one machine apart and stay the same from run to run.
void FillUuid(int device, unsigned char* uuid);

}  // namespace flce::emulator
