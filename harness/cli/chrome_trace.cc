#include "harness/cli/chrome_trace.h"

#include "harness/model/json_reader.h"

namespace flce {

Result<std::string> ChromeTrace(const fs::path& sequence_file) {
  Result<std::string> text = ReadFile(sequence_file);
  if (!text) return Error{text.error().kind, "--trace: the cell launched nothing on the emulated device (" + text.error().message + ")"};
  FLCE_TRY(const Json sequence, ParseJson(*text, sequence_file.string()));
  if (!sequence.is_array()) return Error{ErrorKind::kData, sequence_file.string() + ": expected an array of events"};
  Json events = Json::array();
  size_t index = 0;
  for (const Json& entry : sequence) {
    std::string name, kind, phase;
    double at = 0;
    int64_t stream = 0, device = 0, bytes = 0;
    JsonReader reader(entry, "event " + std::to_string(index++));
    reader.Read("name", name);
    reader.Read("kind", kind);
    reader.Read("phase", phase);
    reader.Read("t_us", at);
    reader.Read("stream", stream);
    reader.Read("device", device);
    reader.Read("bytes", bytes);
    FLCE_TRY_DO(reader.status());
    Json arguments = {{"phase", phase}};
    if (bytes > 0) arguments["bytes"] = bytes;
    // "X" is a complete event. One microsecond: viewers do not draw an event without length.
    events.push_back({{"name", name.empty() ? kind : name}, {"cat", kind}, {"ph", "X"}, {"ts", at}, {"dur", 1}, {"pid", device},
                      {"tid", stream}, {"args", std::move(arguments)}});
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flce
