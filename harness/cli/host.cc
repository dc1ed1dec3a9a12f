#include "harness/cli/host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <thread>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace flce {

std::map<std::string, std::string> DescribeHost() {
  std::map<std::string, std::string> host;
  utsname name{};
  if (::uname(&name) == 0) {
    host["kernel"] = std::string(name.sysname) + " " + name.release;
    host["machine"] = name.machine;
  }
  if (const Result<std::string> release = ReadFile("/etc/os-release")) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    for (std::string_view line : Lines(*release))
      if (line.substr(0, kKey.size()) == kKey) host["os"] = ReplaceAll(std::string(line.substr(kKey.size())), "\"", "");
  }
  host["cores"] = std::to_string(std::thread::hardware_concurrency());
  const uint64_t memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
  host["memory"] = HumanBytes(memory);
  return host;
}

}  // namespace flce
