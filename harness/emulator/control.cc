// The C interface of flce_emulator.h.
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/emulator/api.h"
#include "harness/emulator/flce_emulator.h"
#include "harness/emulator/log_json.h"

using flce::emulator::Session;

namespace {

std::string& LastMessage() {
  thread_local std::string message;
  return message;
}

}  // namespace

FLCE_API int flce_emu_abi(void) { return FLCE_EMU_ABI; }

FLCE_API int flce_emu_set_profile(const char* text) {
  if (text == nullptr) {
    LastMessage() = "device profile: no text";
    return 1;
  }
  Session session;
  LastMessage() = session->SetProfile(text);
  return LastMessage().empty() ? 0 : 1;
}

FLCE_API const char* flce_emu_last_message(void) { return LastMessage().c_str(); }

FLCE_API void flce_emu_reset_log(void) {
  Session session;
  session->log.Reset();
  session->memory.ResetPeaks();
}

FLCE_API char* flce_emu_read_log(void) {
  std::string text;
  {
    Session session;
    text = flce::emulator::LogToJson(*session);
  }
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

FLCE_API void flce_emu_free(char* text) { std::free(text); }
