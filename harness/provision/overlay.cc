#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/base/sha256.h"
#include "harness/base/text.h"
#include "harness/provision/diff.h"
#include "harness/provision/provisioner_impl.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kOverlayFormat = 1;

/// Why a diff does not fit. An empty reason: it does.
struct Misfit {
  std::string reason, reject;
};

bool IsLiger(const std::string& path) { return path.rfind("liger_kernel/", 0) == 0; }

/// "1" from "Hunk #1 FAILED at 12.", what patch prints.
std::string FailedHunk(std::string_view output) {
  const size_t failed = output.find(" FAILED");
  if (failed == std::string_view::npos) return "";
  const size_t hash = output.rfind('#', failed);
  return hash == std::string_view::npos ? "" : std::string(output.substr(hash + 1, failed - hash - 1));
}

Result<Misfit> ApplyOne(const FileDiff& diff, const std::string& path, const fs::path& dir, ProcessRunner& runner) {
  FLCE_TRY(const TempDir work, TempDir::Make(fs::temp_directory_path(), "flce-patch-"));
  const fs::path input = work.path() / "fix.diff", rejects = work.path() / "rejects";
  FLCE_TRY_DO(WriteFileAtomically(input, diff.Text(path)));
  FLCE_TRY_DO(MakeDirectories((dir / path).parent_path()));
  ProcessOptions process;
  // No fuzz: a hunk whose context differs belongs to other code, however near.
  process.argv = {"patch", "--batch", "--forward", "--fuzz=0", "--no-backup-if-mismatch", "-p1", "-d", dir.string(),
                  "-r", rejects.string(), "-i", input.string()};
  process.environment = {{"LC_ALL", "C"}, {"POSIXLY_CORRECT", std::nullopt}};
  const Result<ProcessResult> result = runner.Run(process, {});
  if (!result) return Error{ErrorKind::kEnvironment, "cannot start patch: " + result.error().message + "; install the package patch"};
  if (result->ok()) return Misfit{};
  const std::string hunk = FailedHunk(result->out);
  std::string text = ReadFile(rejects).ok() ? *ReadFile(rejects) : diff.Text(path);
  if (result->out.find("previously applied") != std::string::npos) return Misfit{path + " has this change already", std::move(text)};
  return Misfit{hunk.empty() ? path + ": " + FirstLine(result->out + result->err) : "hunk " + hunk + " of " + path + " does not match", std::move(text)};
}

/// Copies the files a diff changes (torch), or the package as a whole (Liger), and applies it to the copies.
Result<Misfit> ApplyAll(const std::vector<FileDiff>& diffs, const fs::path& liger, const fs::path& torch, const fs::path& dir, ProcessRunner& runner,
                        FixOverlay& overlay) {
  bool copied = false;
  for (const FileDiff& diff : diffs) {
    const std::string path = InstalledPath(diff.path);
    if (path.empty()) continue;  // tests and documents of an upstream change
    if (fs::path(path).extension() != ".py") return Misfit{path + " is not a Python file: the fix needs a build", ""};
    if (path.find("..") != std::string::npos) return Error{ErrorKind::kData, "the diff names " + diff.path + ", a path with '..'"};
    std::error_code code;
    if (IsLiger(path) && !copied) {
      fs::copy(liger / "liger_kernel", dir / "liger_kernel", fs::copy_options::recursive, code);
      if (code) return Error{ErrorKind::kIo, "cannot copy " + (liger / "liger_kernel").string() + ": " + code.message()};
      overlay.sys_path = dir;
      copied = true;
    }
    if (!IsLiger(path)) {
      if (diff.removes) return Misfit{path + " is removed by the diff; only changed and new files of torch can be replaced", ""};
      if (!diff.adds && !fs::exists(dir / path, code)) {
        if (!fs::exists(torch / path, code)) return Misfit{"this torch has no " + path, ""};
        FLCE_TRY_DO(MakeDirectories((dir / path).parent_path()));
        fs::copy_file(torch / path, dir / path, code);  // a copy, never a link: the environment's inodes are shared
        if (code) return Error{ErrorKind::kIo, "cannot copy " + (torch / path).string() + ": " + code.message()};
      }
      const std::string module = ModuleOf(path);
      if (std::none_of(overlay.hooks.begin(), overlay.hooks.end(), [&](const auto& hook) { return hook.module == module; }))
        overlay.hooks.push_back({module, dir / path});
    } else if (!diff.adds && !fs::exists(dir / path, code)) {
      return Misfit{"this Liger has no " + path, ""};
    }
    FLCE_TRY(Misfit misfit, ApplyOne(diff, path, dir, runner));
    if (!misfit.reason.empty()) return misfit;
  }
  if (overlay.sys_path.empty() && overlay.hooks.empty()) return Misfit{"the diff changes nothing in torch/ or liger_kernel/", ""};
  return Misfit{};
}

Json ToJson(const FixOverlay& overlay, const fs::path& root) {
  Json hooks = Json::array();
  for (const FixOverlay::Hook& hook : overlay.hooks)
    hooks.push_back({{"module", hook.module}, {"file", hook.file.lexically_relative(root).string()}});
  return {{"format", kOverlayFormat}, {"applies", overlay.applies}, {"reason", overlay.reason}, {"reject", overlay.reject},
          {"patches_liger", !overlay.sys_path.empty()}, {"hooks", std::move(hooks)}};
}

bool FromJson(const fs::path& root, FixOverlay& overlay) {
  const Result<std::string> text = ReadFile(root / "stamp.json");
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object() || json.value("format", 0) != kOverlayFormat) return false;
  overlay.applies = json.value("applies", false);
  overlay.reason = json.value("reason", "");
  overlay.reject = json.value("reject", "");
  if (json.value("patches_liger", false)) overlay.sys_path = root;
  for (const Json& hook : json.value("hooks", Json::array()))
    overlay.hooks.push_back({hook.value("module", ""), root / hook.value("file", "")});
  return true;
}

}  // namespace

Result<FixOverlay> Provisioner::ProvideFix(const FixDescription& fix, const LigerTree& liger, const Environment& environment) {
  FixOverlay overlay;
  overlay.name = fix.name;
  overlay.python_module = fix.python_module;
  for (const FixRequirement& need : fix.requirements) {
    const Result<std::string> text = ReadFile((IsLiger(need.file) ? liger.root : environment.site_packages) / need.file);
    if (text && text->find(need.contains) != std::string::npos) continue;
    overlay.applies = false;
    overlay.reason = need.otherwise;
    return overlay;
  }
  if (fix.files.empty()) return overlay;

  std::vector<FileDiff> diffs;
  Sha256 content;
  bool touches_liger = false, touches_torch = false;
  for (const fs::path& file : fix.files) {
    FLCE_TRY(const std::string text, ReadFile(file));
    content.Update(text);
    FLCE_TRY(const std::vector<FileDiff> parsed, ParseDiff(text, file.string()));
    for (const FileDiff& diff : parsed) {
      const std::string path = InstalledPath(diff.path);
      touches_liger |= IsLiger(path);
      touches_torch |= !path.empty() && !IsLiger(path);
      diffs.push_back(diff);
    }
  }
  overlay.sha256 = content.Hex();
  const std::string id = fix.name + "-" +
                         Sha256Hex(overlay.sha256 + (touches_liger ? " " + liger.sha256 + liger.root.string() : "") +
                                   (touches_torch ? " " + environment.torch_git + environment.lock_sha256 + environment.site_packages.string() : ""))
                             .substr(0, 16);
  FLCE_TRY(const FileLock lock, impl_->Lock("fix-" + id, "fix " + fix.name));
  const fs::path root = impl_->options.state_dir / "fixes" / id, building = impl_->options.state_dir / "fixes" / (".building-" + id);
  if (FromJson(root, overlay)) return overlay;
  FLCE_TRY_DO(RemoveTree(root));
  FLCE_TRY_DO(RemoveTree(building));
  FLCE_TRY_DO(MakeDirectories(building));
  Result<Misfit> misfit = ApplyAll(diffs, liger.root, environment.site_packages, building, *impl_->runner, overlay);
  if (!misfit) {
    (void)RemoveTree(building).ok();
    return misfit.error();
  }
  overlay.applies = misfit->reason.empty();
  overlay.reason = misfit->reason;
  overlay.reject = misfit->reject;
  if (!overlay.applies) {
    overlay.sys_path.clear();
    overlay.hooks.clear();
  }
  for (FixOverlay::Hook& hook : overlay.hooks) hook.file = root / hook.file.lexically_relative(building);
  if (!overlay.sys_path.empty()) overlay.sys_path = root;
  FLCE_TRY_DO(WriteFileAtomically(building / "stamp.json", ToJson(overlay, root).dump(1) + "\n"));
  std::error_code code;
  fs::rename(building, root, code);
  if (code) return Error{ErrorKind::kIo, "cannot move " + building.string() + " to " + root.string() + ": " + code.message()};
  return overlay;
}

}  // namespace flce
