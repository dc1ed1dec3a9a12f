#include "harness/worker/emulator_link.h"

#include <dlfcn.h>

namespace flce::worker {
namespace {

template <typename Function>
void Look(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

EmulatorLink EmulatorLink::Find() {
  EmulatorLink link;
  Look("flce_emu_abi", &link.abi_);
  Look("flce_emu_set_profile", &link.set_profile_);
  Look("flce_emu_last_message", &link.last_message_);
  Look("flce_emu_reset_log", &link.reset_log_);
  Look("flce_emu_read_log", &link.read_log_);
  Look("flce_emu_free", &link.free_);
  return link;
}

std::optional<int> EmulatorLink::abi() const {
  if (abi_ == nullptr) return std::nullopt;
  return abi_();
}

Status EmulatorLink::SetProfile(const std::string& text) const {
  if (set_profile_ == nullptr) return Error{ErrorKind::kEnvironment, "the emulated device takes no profile"};
  if (set_profile_(text.c_str()) == 0) return Done{};
  const char* message = last_message_ != nullptr ? last_message_() : nullptr;
  return Error{ErrorKind::kUsage, message != nullptr ? message : "the emulated device refuses the profile"};
}

void EmulatorLink::ResetLog() const {
  if (reset_log_ != nullptr) reset_log_();
}

std::optional<std::string> EmulatorLink::ReadLog() const {
  char* text = read_log_ != nullptr ? read_log_() : nullptr;
  if (text == nullptr) return std::nullopt;
  std::string copy = text;
  if (free_ != nullptr) free_(text);
  return copy;
}

}  // namespace flce::worker
