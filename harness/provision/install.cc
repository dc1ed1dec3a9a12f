#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/provision/provisioner_impl.h"
#include "harness/provision/stubs.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

/// uv unpacks while it fetches; this is what of an unpacked byte has crossed the network, as measured on torch's wheels.
constexpr double kFetchedPerUnpacked = 0.39;

uint64_t SizeOfTree(const fs::path& dir) {
  uint64_t bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator it(dir, fs::directory_options::none, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored) && !it->is_symlink(ignored)) bytes += it->file_size(ignored);
  }
  return bytes;
}

Result<fs::path> SitePackages(const fs::path& environment) {
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(environment / "lib", code))
    if (entry.path().filename().string().rfind("python", 0) == 0 && fs::is_directory(entry.path() / "site-packages", code))
      return entry.path() / "site-packages";
  return Error{ErrorKind::kEnvironment, "uv made no site-packages in " + environment.string()};
}

/// Times of last use are modification times of a file, so that noting one is a single system call.
void Touch(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return;
  ::futimens(fd, nullptr);
  ::close(fd);
}

}  // namespace

void Provisioner::Impl::Report(const std::string& subject, const std::string& stage, uint64_t done, uint64_t total) const {
  if (options.on_progress) options.on_progress({subject, stage, done, total});
}

Result<FileLock> Provisioner::Impl::Lock(const std::string& id, const std::string& subject) {
  const fs::path file = options.state_dir / "locks" / (id + ".lock");
  FLCE_TRY(std::optional<FileLock> free, FileLock::TryAcquire(file));
  if (free) return std::move(*free);
  Report(subject, "waiting for another run");
  return FileLock::Acquire(file);
}

Status Provisioner::Impl::CheckSpace(Flavour flavour, const std::string& subject) const {
  const uint64_t needed = flavour == Flavour::kFull ? data.full_bytes : data.lean_bytes;
  const std::optional<uint64_t> free = FreeBytes(options.state_dir);
  if (!free || *free >= needed) return Done{};
  return Error{ErrorKind::kEnvironment, subject + " needs about " + HumanBytes(needed) + " and " + options.state_dir.string() + " has " + HumanBytes(*free) +
                                            " free; free space, or set FLCE_REPRO_HOME to a larger file system"};
}

Status Provisioner::Impl::EnsureStubs(Environment& environment, const std::string& subject) {
  if (environment.flavour != Flavour::kLean) return Done{};
  const fs::path dir = environment.root / "stubs" / stub_key;
  environment.library_dirs = {dir};
  std::error_code code;
  if (fs::is_directory(dir, code)) return Done{};
  Report(subject, "building stub libraries");
  std::vector<ElfLibrary> scanned;
  std::set<std::string> present;
  for (const fs::path& file : LibrariesOf(environment.site_packages)) {
    FLCE_TRY(ElfLibrary library, ReadElf(file));
    present.insert({file.filename().string(), library.soname});
    scanned.push_back(std::move(library));
  }
  FLCE_TRY_DO(MakeDirectories(dir.parent_path()));
  FLCE_TRY(TempDir building, TempDir::Make(dir.parent_path(), ".building-"));
  FLCE_TRY_DO(BuildStubs(PlanStubs(scanned, present, data.stubs), data.text_results, FindCompiler(), building.path(), *runner));
  fs::rename(building.path(), dir, code);
  if (code) return Error{ErrorKind::kIo, "cannot move the stub libraries to " + dir.string() + ": " + code.message()};
  (void)building.Release();
  fs::permissions(dir, fs::perms(0755), code);
  return Done{};
}

Result<Environment> Provisioner::Impl::Finish(Environment environment) {
  FLCE_TRY(FileLock use, FileLock::Acquire(options.state_dir / "locks" / (environment.id + ".use"), FileLock::Mode::kShared));
  environment.in_use = std::make_shared<FileLock>(std::move(use));
  Touch(environment.root / "used");
  return environment;
}

Result<Environment> Provisioner::Impl::ProvideTorch(const std::string& version, Flavour flavour) {
  const std::string subject = "torch " + version + (flavour == Flavour::kFull ? " (full)" : "");
  FLCE_TRY(const std::string id, EnvironmentId(version, flavour));
  FLCE_TRY(const FileLock lock, Lock(id, subject));
  const fs::path root = options.state_dir / "envs" / id;
  if (std::optional<Environment> found = LoadStamp(root)) {
    FLCE_TRY_DO(EnsureStubs(*found, subject));
    return Finish(std::move(*found));
  }
  FLCE_TRY_DO(RemoveTree(root));  // whatever has no valid stamp was left by a killed run or damaged since
  Result<Environment> made = Install(id, version, flavour, subject);
  if (made) return Finish(std::move(*made));
  const Error& error = made.error();
  if (options.offline && error.kind == ErrorKind::kNotFound) return MissingOffline(subject, InstalledTorch(flavour));
  if (options.offline && error.message.find("--offline") != std::string::npos) return MissingOffline(subject, InstalledTorch(flavour));
  if (error.kind == ErrorKind::kNotFound && error.message.rfind("no ", 0) == 0) {
    FLCE_TRY(Catalogue catalogue, MakeCatalogue(data.torch, false, {}));
    return catalogue.Unknown(version);
  }
  return made;
}

// Everything is made in a folder beside, whose stamp is written last and which is then renamed: `envs/<id>` with a
// stamp is whole or is not there. The caller holds the lock.
Result<Environment> Provisioner::Impl::Install(const std::string& id, const std::string& version, Flavour flavour, const std::string& subject) {
  FLCE_TRY(const PythonFacts facts, Python());
  if (!facts.has_headers)
    return Error{ErrorKind::kEnvironment, options.python.string() + " has no Python.h in " + facts.include + ", which Triton compiles against; install python3-dev"};
  if (FindCompiler().empty())
    return Error{ErrorKind::kEnvironment, "no C compiler (cc, gcc or clang in PATH, or $CC): Triton and the stub libraries need one; install gcc"};
  FLCE_TRY_DO(CheckSpace(flavour, subject));
  FLCE_TRY(Uv* const tool, GetUv());

  Report(subject, "resolving");
  ResolveRequest request{{data.torch.package + "==" + version}, {}, true, subject};
  request.requirements.insert(request.requirements.end(), data.always.begin(), data.always.end());
  if (flavour == Flavour::kLean) request.without = data.nvidia_packages;
  FLCE_TRY(const std::vector<LockedPackage> packages, tool->Resolve(request));
  uint64_t total = 0;
  for (const LockedPackage& package : packages) total += package.size;

  const fs::path building = options.state_dir / "envs" / (".building-" + id);
  FLCE_TRY_DO(RemoveTree(building));
  FLCE_TRY_DO(MakeDirectories(building));
  struct Cleaner {
    fs::path dir;
    ~Cleaner() { (void)RemoveTree(dir).ok(); }
  } const cleaner{building};  // after the rename there is nothing left to remove

  Environment made;
  made.id = id;
  made.flavour = flavour;
  made.root = building;
  made.python = building / "env/bin/python";
  made.python_version = facts.version;
  made.lock_sha256 = LockDigest(packages);
  const fs::path requirements = building / "requirements.txt";
  FLCE_TRY_DO(WriteFileAtomically(requirements, RequirementsText(packages)));
  FLCE_TRY_DO(WriteFileAtomically(building / "lock.json", LockToJson(packages).dump(1) + "\n"));
  FLCE_TRY_DO(tool->MakeEnvironment(building / "env"));
  const std::string stage = "fetching " + std::to_string(packages.size()) + " packages";
  Report(subject, stage, 0, total);
  FLCE_TRY_DO(tool->Install(requirements, made.python, {}, subject, [&](uint64_t written) {
    Report(subject, stage, std::min(total, static_cast<uint64_t>(static_cast<double>(written) * kFetchedPerUnpacked)), total);
  }));

  FLCE_TRY(const fs::path site_packages, SitePackages(building / "env"));
  FLCE_TRY_DO(ReadTorchFacts(site_packages, made));
  FLCE_TRY_DO(EnsureStubs(made, subject));
  const Json stamp = StampToJson(made, LibrariesOf(site_packages), SizeOfTree(building), clock->Utc());
  const fs::path root = options.state_dir / "envs" / id;
  FLCE_TRY_DO(Publish(building, root, stamp));
  std::optional<Environment> environment = LoadStamp(root);
  if (!environment) return Error{ErrorKind::kInternal, root.string() + " does not match the stamp just written"};
  FLCE_TRY_DO(EnsureStubs(*environment, subject));
  environment->reused = false;
  Report(subject, "ready", total, total);
  return *std::move(environment);
}

Status Provisioner::Impl::InstallFolder(const std::vector<LockedPackage>& packages, const fs::path& building, const std::string& subject) {
  FLCE_TRY(Uv* const tool, GetUv());
  uint64_t total = 0;
  for (const LockedPackage& package : packages) total += package.size;
  FLCE_TRY_DO(RemoveTree(building));
  FLCE_TRY_DO(MakeDirectories(building));
  const fs::path requirements = building / "requirements.txt";
  FLCE_TRY_DO(WriteFileAtomically(requirements, RequirementsText(packages)));
  Report(subject, "fetching", 0, total);
  const Status installed = tool->Install(requirements, options.python, building, subject, {});
  if (!installed) (void)RemoveTree(building).ok();
  return installed;
}

Status Provisioner::Impl::Publish(const fs::path& building, const fs::path& root, const Json& stamp) const {
  FLCE_TRY_DO(WriteFileAtomically(building / "stamp.json", stamp.dump(1) + "\n"));
  std::error_code code;
  fs::rename(building, root, code);
  if (code) return Error{ErrorKind::kIo, "cannot move " + building.string() + " to " + root.string() + ": " + code.message()};
  return Done{};
}

Result<LigerTree> Provisioner::Impl::ProvideLigerRelease(const std::string& version) {
  const std::string subject = "Liger " + version;
  FLCE_TRY(const FileLock lock, Lock("liger-" + version, subject));
  const fs::path root = options.state_dir / "liger" / version;
  const auto load = [&]() -> std::optional<LigerTree> {
    const Result<std::string> text = ReadFile(root / "stamp.json");
    const Json json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object() || json.value("format", 0) != 1) return std::nullopt;
    const Result<std::string> tree = HashPythonTree(root / "liger_kernel");
    if (!tree || *tree != json.value("tree_sha256", "")) return std::nullopt;
    return LigerTree{root, json.value("version", ""), "release", json.value("sha256", ""), "", false, true};
  };
  if (std::optional<LigerTree> found = load()) return *std::move(found);
  FLCE_TRY_DO(RemoveTree(root));
  FLCE_TRY(Uv* const tool, GetUv());
  Report(subject, "resolving");
  const bool nightly = version.find(".dev") != std::string::npos;
  const std::string package = nightly ? data.liger.nightly_package : data.liger.package;
  Result<std::vector<LockedPackage>> packages = tool->Resolve({{package + "==" + version}, {}, false, subject});
  if (!packages) {
    const Error& error = packages.error();
    if (options.offline) return MissingOffline(subject, InstalledLiger());
    if (error.kind != ErrorKind::kNotFound || error.message.rfind("no ", 0) != 0) return error;
    FLCE_TRY(Catalogue catalogue, MakeCatalogue(data.liger, true, {}));
    return catalogue.Unknown(version);
  }
  const fs::path building = options.state_dir / "liger" / (".building-" + version);
  if (const Status installed = InstallFolder(*packages, building, subject); !installed)
    return options.offline ? MissingOffline(subject, InstalledLiger()) : installed.error();
  FLCE_TRY(const std::string tree, HashPythonTree(building / "liger_kernel"));
  const Json stamp = {{"format", 1}, {"version", version}, {"sha256", packages->front().sha256}, {"url", packages->front().url}, {"tree_sha256", tree}};
  FLCE_TRY_DO(Publish(building, root, stamp));
  std::optional<LigerTree> made = load();
  if (!made) return Error{ErrorKind::kInternal, root.string() + " does not match the stamp just written"};
  made->reused = false;
  Report(subject, "ready");
  return *std::move(made);
}

}  // namespace flce
