#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/provision/provisioner_impl.h"

namespace flce {

Result<Environment> Provisioner::ProvideExternal(const fs::path& python) {
  ProcessOptions process;
  // torch is found, not imported: importing it takes seconds and may touch the GPU.
  process.argv = {python.string(), "-c",
                  "import importlib.util, json, os, platform, sys\n"
                  "spec = importlib.util.find_spec('torch')\n"
                  "where = os.path.dirname(os.path.dirname(os.path.abspath(spec.origin))) if spec and spec.origin else ''\n"
                  "print(json.dumps({'version': platform.python_version(), 'site_packages': where, 'executable': sys.executable}))"};
  const Result<ProcessResult> result = impl_->runner->Run(process, {});
  if (!result) return Error{ErrorKind::kEnvironment, "cannot start the interpreter " + python.string() + ": " + result.error().message};
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(result->out, nullptr, false);
  if (!result->ok() || !json.is_object())
    return Error{ErrorKind::kEnvironment, "the interpreter " + python.string() + " does not work (" + Describe(result->state) + "): " + FirstLine(result->err)};
  const std::string site_packages = json.value("site_packages", "");
  if (site_packages.empty()) return Error{ErrorKind::kNotFound, "the interpreter " + python.string() + " finds no torch"};
  Environment environment;
  environment.flavour = Flavour::kExternal;
  environment.python = json.value("executable", python.string());
  environment.id = environment.python.string();
  environment.python_version = json.value("version", "");
  environment.reused = true;
  FLCE_TRY_DO(ReadTorchFacts(site_packages, environment));
  return environment;
}

}  // namespace flce
