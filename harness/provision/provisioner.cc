#include "harness/provision/provisioner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "harness/base/sha256.h"
#include "harness/base/text.h"
#include "harness/provision/provisioner_impl.h"
#include "harness/provision/stubs.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

bool SameFileSystem(const fs::path& a, const fs::path& b) {
  struct stat first {}, second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev;
}

/// $FLCE_UV, the toolchain's, or the one in PATH.
std::string FindUv(const fs::path& state_dir) {
  if (const char* named = std::getenv("FLCE_UV"); named != nullptr && *named != '\0') return named;
  const fs::path own = state_dir / "toolchain/bin/uv";
  if (::access(own.c_str(), X_OK) == 0) return own.string();
  const char* path = std::getenv("PATH");
  for (const std::string& dir : Split(path == nullptr ? "" : path, ':'))
    if (!dir.empty() && ::access((dir + "/uv").c_str(), X_OK) == 0) return dir + "/uv";
  return "";
}

/// The user's cache saves fetching twice, but only on the same file system can its files be linked instead of copied.
fs::path CacheDirectory(const fs::path& state_dir) {
  if (const char* named = std::getenv("UV_CACHE_DIR"); named != nullptr && *named != '\0' && SameFileSystem(named, state_dir)) return named;
  return state_dir / "uv-cache";
}

bool IsPath(const std::string& text) { return text.find('/') != std::string::npos || text == "." || text == ".."; }

}  // namespace

fs::path StateDirectory() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string home = variable("FLCE_REPRO_HOME"); !home.empty()) return fs::absolute(home).lexically_normal();
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty() && cache[0] == '/') return fs::path(cache) / "flce-repro";
  const std::string home = variable("HOME");
  return fs::path(home.empty() ? "/tmp" : home) / ".cache/flce-repro";
}

Provisioner::Provisioner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Provisioner::~Provisioner() = default;
const std::string& Provisioner::note() const { return impl_->note; }
const ProvisionOptions& Provisioner::options() const { return impl_->options; }

Result<std::unique_ptr<Provisioner>> Provisioner::Open(ProvisionOptions options, ProcessRunner* runner, PackageIndex* index, Clock* clock) {
  std::unique_ptr<Impl> impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->own_runner = std::make_unique<SystemRunner>();
  impl->runner = runner != nullptr ? runner : impl->own_runner.get();
  impl->index = index;
  impl->clock = clock != nullptr ? clock : &SystemClock();
  FLCE_TRY_DO(impl->SetUp());
  return std::unique_ptr<Provisioner>(new Provisioner(std::move(impl)));
}

Status Provisioner::Impl::SetUp() {
  const fs::path data_file = options.cases_dir / "provision.json";
  FLCE_TRY(data, LoadProvisionData(data_file));
  FLCE_TRY(const std::string data_text, ReadFile(data_file));
  const Json rules = Json::parse(data_text);
  stub_key = Sha256Hex(std::to_string(kStubFormat) + rules["stub_libraries"].dump() + rules["stub_text_results"].dump()).substr(0, 12);
  options.state_dir = fs::absolute(options.state_dir).lexically_normal();
  const auto unwritable = [&](const std::string& why) {
    return Error{ErrorKind::kEnvironment, "the state directory " + options.state_dir.string() + " cannot be used (" + why +
                                              "); set FLCE_REPRO_HOME to a folder that you can write"};
  };
  for (const char* part : {"envs", "liger", "packages", "fixes", "locks", "logs"}) {
    const fs::path dir = options.state_dir / part;
    std::error_code code;
    fs::create_directories(dir, code);
    if (code) return unwritable(code.message());
    if (::access(dir.c_str(), W_OK) != 0) return unwritable(std::string(part) + ": " + std::strerror(errno));
  }
  return Done{};
}

Result<Uv*> Provisioner::Impl::GetUv() {
  if (uv == nullptr) {
    const std::string program = FindUv(options.state_dir);
    if (program.empty())
      return Error{ErrorKind::kEnvironment, "uv is neither in the toolchain of " + options.state_dir.string() + " nor in PATH; start through scripts/flce-repro, or set FLCE_UV"};
    uv = std::make_unique<Uv>(*runner, UvOptions{program, options.python, CacheDirectory(options.state_dir), options.state_dir / "logs/uv.log",
                                                 options.torch_index, options.find_links, options.offline});
  }
  return uv.get();
}

Result<PythonFacts> Provisioner::Impl::Python() {
  if (python) return *python;
  ProcessOptions process;
  process.argv = {options.python.string(), "-I", "-S", "-c",
                  "import json, os, sys, sysconfig\n"
                  "include = sysconfig.get_path('include')\n"
                  "print(json.dumps({'version': '%d.%d.%d' % sys.version_info[:3], 'tag': 'cp%d%d' % sys.version_info[:2],\n"
                  "                  'include': include, 'has_headers': os.path.exists(os.path.join(include, 'Python.h'))}))"};
  const Result<ProcessResult> result = runner->Run(process, {});
  if (!result) return Error{ErrorKind::kEnvironment, "cannot start the interpreter " + options.python.string() + ": " + result.error().message};
  const Json json = Json::parse(result->out, nullptr, false);
  if (!result->ok() || !json.is_object())
    return Error{ErrorKind::kEnvironment, "the interpreter " + options.python.string() + " does not work (" + Describe(result->state) + "): " + FirstLine(result->err)};
  python = PythonFacts{json.value("version", ""), json.value("tag", ""), json.value("include", ""), json.value("has_headers", false)};
  return *python;
}

std::string Provisioner::Impl::SourceSuffix() const {
  if (options.torch_index.empty() && options.find_links.empty()) return "";
  return "-x" + Sha256Hex(options.torch_index + "\n" + Join(options.find_links, "\n")).substr(0, 8);
}

Result<std::string> Provisioner::Impl::EnvironmentId(const std::string& version, Flavour flavour) {
  FLCE_TRY(const PythonFacts facts, Python());
  return "torch-" + version + "-" + FlavourName(flavour) + "-" + facts.tag + SourceSuffix();
}

std::vector<std::string> Provisioner::Impl::InstalledTorch(Flavour flavour) {
  std::vector<std::string> versions;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.state_dir / "envs", code)) {
    const std::optional<Environment> found = LoadStamp(entry.path());
    if (!found || found->flavour != flavour) continue;
    const Result<std::string> id = EnvironmentId(found->torch_version, flavour);
    if (id && *id == found->id) versions.push_back(found->torch_version);
  }
  return versions;
}

std::vector<std::string> Provisioner::Impl::InstalledLiger() const {
  std::vector<std::string> versions;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.state_dir / "liger", code))
    if (fs::exists(entry.path() / "stamp.json", code)) versions.push_back(entry.path().filename().string());
  return versions;
}

Result<Catalogue> Provisioner::Impl::MakeCatalogue(const ReleaseSource& source, bool every_patch,
                                                   std::function<std::vector<std::string>()> installed) {
  PackageIndex* answering = index;
  if (answering == nullptr && !options.offline) {
    FLCE_TRY(answering, GetUv());
  }
  FLCE_TRY(const PythonFacts facts, Python());
  Catalogue::Options catalogue{options.state_dir / "catalogue.json", facts.tag + SourceSuffix(), options.offline, every_patch, std::move(installed)};
  return Catalogue(answering, source, std::move(catalogue), std::time(nullptr));
}

template <typename T>
Result<T> Provisioner::Impl::Ask(const ReleaseSource& source, bool every_patch, std::function<std::vector<std::string>()> installed,
                                 const std::function<Result<T>(Catalogue&)>& question) {
  FLCE_TRY(Catalogue catalogue, MakeCatalogue(source, every_patch, std::move(installed)));
  Result<T> answer = question(catalogue);
  if (!catalogue.note().empty()) note = catalogue.note();
  return answer;
}

Result<std::string> Provisioner::ResolveTorch(const std::string& spec, Flavour flavour) {
  return impl_->Ask<std::string>(impl_->data.torch, false, [this, flavour] { return impl_->InstalledTorch(flavour); },
                                 [&](Catalogue& catalogue) { return catalogue.Resolve(spec); });
}

Result<std::vector<std::string>> Provisioner::ExpandTorch(const std::string& spec, Flavour flavour) {
  return impl_->Ask<std::vector<std::string>>(impl_->data.torch, false, [this, flavour] { return impl_->InstalledTorch(flavour); },
                                              [&](Catalogue& catalogue) { return catalogue.Expand(spec); });
}

Result<std::string> Provisioner::ResolveLiger(const std::string& spec) {
  if (IsPath(spec)) {
    FLCE_TRY(const LigerTree tree, OpenLigerCheckout(spec, *impl_->runner));
    return tree.root.string();
  }
  return impl_->Ask<std::string>(impl_->data.liger, true, [this] { return impl_->InstalledLiger(); },
                                 [&](Catalogue& catalogue) { return catalogue.Resolve(spec); });
}

Result<std::vector<std::string>> Provisioner::ExpandLiger(const std::string& spec) {
  if (IsPath(spec)) {
    FLCE_TRY(std::string root, ResolveLiger(spec));
    return std::vector<std::string>{std::move(root)};
  }
  return impl_->Ask<std::vector<std::string>>(impl_->data.liger, true, [this] { return impl_->InstalledLiger(); },
                                              [&](Catalogue& catalogue) { return catalogue.Expand(spec); });
}

Result<Environment> Provisioner::ProvideTorch(const std::string& version, Flavour flavour) { return impl_->ProvideTorch(version, flavour); }

Result<LigerTree> Provisioner::ProvideLiger(const std::string& version_or_path) {
  if (IsPath(version_or_path)) return OpenLigerCheckout(version_or_path, *impl_->runner);
  return impl_->ProvideLigerRelease(version_or_path);
}

}  // namespace flce
