#include "harness/provision/liger.h"

#include <algorithm>

#include "harness/base/sha256.h"
#include "harness/provision/environment.h"
#include "harness/base/text.h"

namespace flce {
namespace {

/// The value of the first `version = "..."` line, as pyproject.toml has it under [project].
std::string ProjectVersion(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  if (!text) return "";
  for (const std::string_view line : Lines(*text)) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || Trim(line.substr(0, equals)) != "version") continue;
    const std::string_view value = Trim(line.substr(equals + 1));
    if (value.size() > 2 && (value[0] == '"' || value[0] == '\'')) return std::string(value.substr(1, value.find(value[0], 1) - 1));
  }
  return "";
}

/// Output of git in `dir`, trimmed; nullopt when there is no git or it fails (no repository).
std::optional<std::string> Git(const fs::path& dir, std::vector<std::string> arguments, ProcessRunner& runner) {
  ProcessOptions process;
  process.argv = {"git", "-C", dir.string()};
  process.argv.insert(process.argv.end(), arguments.begin(), arguments.end());
  // Another user's checkout (a mounted volume in a container) is fine to read.
  process.environment = {{"GIT_CONFIG_COUNT", "1"}, {"GIT_CONFIG_KEY_0", "safe.directory"}, {"GIT_CONFIG_VALUE_0", "*"}, {"GIT_OPTIONAL_LOCKS", "0"}};
  const Result<ProcessResult> result = runner.Run(process, {});
  if (!result || !result->ok()) return std::nullopt;
  return std::string(Trim(result->out));
}

}  // namespace

std::string LigerTree::Label() const {
  std::string label = version.empty() ? "of unknown version" : version;
  if (!git.empty()) label += " at " + git.substr(0, 12);
  if (dirty) label += " with changes";
  return label;
}

Result<std::string> HashPythonTree(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::recursive_directory_iterator it(dir, fs::directory_options::none, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == ".py" && it->is_regular_file(code)) files.push_back(it->path());
  if (code) return Error{ErrorKind::kIo, "cannot list " + dir.string() + ": " + code.message()};
  std::sort(files.begin(), files.end());
  Sha256 hash;
  for (const fs::path& file : files) {
    FLCE_TRY(const std::string digest, Sha256OfFile(file));
    hash.Update(digest + "  " + file.lexically_relative(dir).string() + "\n");
  }
  return hash.Hex();
}

Result<LigerTree> OpenLigerCheckout(const fs::path& path, ProcessRunner& runner) {
  std::error_code code;
  fs::path base = fs::canonical(path, code);
  if (code) return Error{ErrorKind::kNotFound, "no Liger checkout at " + path.string() + ": " + code.message()};
  LigerTree tree;
  for (const fs::path& candidate : {base / "src", base, base.parent_path()}) {
    if (candidate == base.parent_path() && base.filename() != "liger_kernel") continue;
    if (fs::exists(candidate / "liger_kernel" / "ops", code)) {
      tree.root = candidate;
      break;
    }
  }
  if (tree.root.empty())
    return Error{ErrorKind::kNotFound, base.string() + " holds no liger_kernel/ops (neither directly nor in src/); name the root of a Liger-Kernel checkout"};
  tree.source = "checkout";
  tree.version = ProjectVersion(tree.root / "pyproject.toml");
  if (tree.version.empty()) tree.version = ProjectVersion(tree.root.parent_path() / "pyproject.toml");
  // An unpacked wheel has no pyproject.toml, but says its version in the folder of its metadata.
  if (tree.version.empty()) tree.version = DistributionVersion(tree.root, "liger-kernel");
  FLCE_TRY(tree.sha256, HashPythonTree(tree.root / "liger_kernel"));
  // A wheel unpacked into an ignored folder of some repository is not a checkout of it: its files must be in the index.
  if (Git(tree.root, {"ls-files", "--error-unmatch", "--", "liger_kernel"}, runner)) tree.git = Git(tree.root, {"rev-parse", "HEAD"}, runner).value_or("");
  if (!tree.git.empty()) tree.dirty = !Git(tree.root, {"status", "--porcelain", "--", "."}, runner).value_or("").empty();
  tree.reused = true;
  return tree;
}

}  // namespace flce
