#include "harness/numerics/delegate.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/base/files.h"

namespace flce {

Error RunTorchProgram(const std::vector<std::string>& arguments) {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (code) return Error{ErrorKind::kEnvironment, "cannot find this program's own folder: " + code.message()};
  const std::string program = (self.parent_path() / kTorchProgram).string();
  if (::access(program.c_str(), X_OK) != 0) {
    return Error{ErrorKind::kEnvironment, "'" + arguments.front() + "' needs " + program +
                                              ", which is not built: configure with FLCE_TORCH_DIR set to "
                                              "the torch folder of an unpacked PyTorch wheel"};
  }
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return Error{ErrorKind::kEnvironment, "cannot start " + program + ": " + std::strerror(errno)};
}

}  // namespace flce
