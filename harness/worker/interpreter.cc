#include "harness/worker/interpreter.h"

#include <pybind11/embed.h>

#include <cstdlib>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace flce::worker {
namespace {

Error Cannot(const fs::path& python, const std::string& why) {
  return {ErrorKind::kEnvironment, "cannot embed " + python.string() + ": " + why};
}

// "3.11.2", "3.11.2.final.0" and "3.11" all give "3.11".
std::string MajorMinor(std::string_view version) {
  std::vector<std::string> parts = Split(version, '.');
  return parts.size() < 2 ? "" : std::string(Trim(parts[0])) + "." + std::string(Trim(parts[1]));
}

// PyConfig owns strings that must be freed on every way out.
struct Config {
  PyConfig value;
  Config() { PyConfig_InitPythonConfig(&value); }
  ~Config() { PyConfig_Clear(&value); }
};

}  // namespace

std::string EmbeddedVersion() { return std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION); }

std::string EnvironmentVersion(const fs::path& python) {
  Result<std::string> settings = ReadFile(python.parent_path().parent_path() / "pyvenv.cfg", 1 << 20);
  if (settings) {
    for (std::string_view line : Lines(*settings)) {
      size_t equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      std::string_view key = Trim(line.substr(0, equals));
      if (key == "version" || key == "version_info") return MajorMinor(Trim(line.substr(equals + 1)));
    }
  }
  std::error_code ignored;
  fs::path target = fs::canonical(python, ignored);
  std::string name = target.filename().string();
  constexpr std::string_view kPrefix = "python";
  return name.rfind(kPrefix, 0) == 0 ? MajorMinor(name.substr(kPrefix.size())) : "";
}

Status CheckEnvironment(const fs::path& python) {
  std::error_code ignored;
  if (!fs::exists(python, ignored)) return Cannot(python, "no such file; make the environment again");
  std::string version = EnvironmentVersion(python);
  if (!version.empty() && version != EmbeddedVersion()) {
    return Cannot(python, "it is Python " + version + ", this worker embeds " + EmbeddedVersion() +
                              "; make the environment with that Python or build the worker with FLCE_PYTHON of the other");
  }
  return Done{};
}

Result<std::unique_ptr<Interpreter>> Interpreter::Start(const fs::path& python) {
  FLCE_TRY([[maybe_unused]] Done checked, CheckEnvironment(python));
  // Where modules come from is decided by the request alone.
  for (const char* name : {"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONPLATLIBDIR"}) unsetenv(name);

  Config config;
  config.value.user_site_directory = 0;
  config.value.parse_argv = 0;
  config.value.pathconfig_warnings = 0;
  config.value.use_hash_seed = 1;  // the same order of sets in every run
  config.value.hash_seed = 0;
  PyStatus status = PyConfig_SetBytesString(&config.value, &config.value.program_name, python.c_str());
  if (PyStatus_Exception(status)) return Cannot(python, status.err_msg != nullptr ? status.err_msg : "bad path");
  status = Py_InitializeFromConfig(&config.value);
  if (PyStatus_Exception(status)) return Cannot(python, status.err_msg != nullptr ? status.err_msg : "Python did not start");
  return std::unique_ptr<Interpreter>(new Interpreter());
}

}  // namespace flce::worker
