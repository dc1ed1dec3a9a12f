#pragma once

#include <string>

#include "harness/emulator/emulator.h"

namespace flce::emulator {

/// The log as flce_emu_read_log() gives it (flce_emulator.h): one line of JSON.
std::string LogToJson(const Emulator& emulator);

}  // namespace flce::emulator
