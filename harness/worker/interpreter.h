#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "harness/base/result.h"

namespace flce::worker {

/// "3.11", the Python that this worker embeds.
std::string EmbeddedVersion();

/// "3.11" of the environment that `python` belongs to, read from its pyvenv.cfg, else from the interpreter's name
/// ("python3.12"); "" if neither tells.
std::string EnvironmentVersion(const std::filesystem::path& python);

/// kEnvironment, one line, if this worker cannot embed the environment of `python`: absent, or of another Python.
Status CheckEnvironment(const std::filesystem::path& python);

/// The embedded interpreter set up as `python` would set itself up: its prefix, its site-packages.
class Interpreter {
 public:
  /// kEnvironment if Python cannot start there. At most one at a time.
  static Result<std::unique_ptr<Interpreter>> Start(const std::filesystem::path& python);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  /// The process ends without finalising Python: extension modules with threads of their own do not survive that.
  ~Interpreter() = default;

 private:
  Interpreter() = default;
};

}  // namespace flce::worker
