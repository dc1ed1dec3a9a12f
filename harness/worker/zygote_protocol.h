#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/worker/request.h"

namespace flce::worker {

/// Lines of the zygote protocol: one JSON object a line, both ways, on one descriptor.
///
///   in   {"format":1,"start":{"python","sys_path":[..],"fix":{..},"profile":null}}   first line
///   out  {"ready":true,"pid":..,"seconds":..,"versions":{..}} or {"ready":false,"error":".."}
///   in   a worker request plus "environment":{"TMPDIR":"..",..} and "limits":{"deadline_s","memory_bytes"}
///   out  {"cell_id","exit":{"code":0}|{"signal":11}|{"timed_out":true}|{"out_of_memory":true}|{"cancelled":true},
///         "seconds":..,"max_rss_bytes":..}     observation.json is there if the code is 0 (and often if not)
///   out  {"cell_id","refused":"why"}           never started
///   out  {"cell_id","lost":"why"}              its parent died twice; run it cold
///   in   {"cancel":"cell id"}
///   out  {"warmed":{"device":"..","ok":true,"seconds":..,"error":null}}   news; readers skip lines they do not know
///
/// End of file on the descriptor ends the zygote and all its cells.
constexpr int kZygoteFormat = 1;

/// What every cell of this zygote agrees on. A cell's sys_path ends with the zygote's: what stands before (Liger, a fix's
/// copy of it) is its own. A fix's name says nothing; its hooks and its module decide.
struct Identity {
  std::string python;
  std::vector<std::string> sys_path;
  std::string changes;  ///< the fix's hooks and module
};

/// Whether a cell of that identity can be forked from a process that was started with `zygote`.
bool Serves(const Identity& zygote, const Identity& cell);

struct StartLine {
  std::filesystem::path python;
  std::filesystem::path package_dir;
  std::string text;      ///< the "start" object
  Identity identity;
};

struct CellLine {
  Request request;
  Identity identity;
  std::string device_kind;   ///< "emulated" or "cuda"
  std::string device_key;    ///< cells with the same key share a warmed parent
  std::string device;        ///< the "device" object
  std::map<std::string, std::string> environment;
  double deadline_s = 0;
  uint64_t memory_bytes = 0;
};

struct CancelLine {
  std::string cell_id;
};

Result<StartLine> ParseStart(std::string_view line);
Result<std::variant<CellLine, CancelLine>> ParseLine(std::string_view line);
/// The "cell_id" of a line that ParseLine refused, "" if there is none.
std::string CellIdOf(std::string_view line);

/// How a cell ended, as the zygote saw it.
struct CellEnd {
  enum class Kind { kCode, kSignal, kTimedOut, kOutOfMemory, kCancelled };
  std::string cell_id;
  Kind kind = Kind::kCode;
  int value = 0;  ///< exit code or signal
  double seconds = 0;
  uint64_t max_rss_bytes = 0;
};

/// Lines without their line end.
std::string Format(const CellEnd& end);
std::string FormatRefused(std::string_view cell_id, std::string_view why);
std::string FormatLost(std::string_view cell_id, std::string_view why);
std::string FormatReady(double seconds, const std::string& versions_json);
std::string FormatNotReady(std::string_view error);

}  // namespace flce::worker
