#include "harness/provision/diff.h"

#include "harness/base/text.h"

namespace flce {
namespace {

bool Begins(std::string_view text, std::string_view lead) { return text.substr(0, lead.size()) == lead; }

/// The path of a "--- " or "+++ " line: no time stamp, no "a/" or "b/".
std::string PathOf(std::string_view line) {
  line.remove_prefix(4);
  line = Trim(line.substr(0, line.find('\t')));
  if (Begins(line, "a/") || Begins(line, "b/")) line.remove_prefix(2);
  return std::string(line);
}

/// Lines that a hunk header promises: "@@ -old,n +new,m @@".
bool HunkSizes(std::string_view header, int& old_lines, int& new_lines) {
  const auto count = [&](char sign) {
    const size_t at = header.find(std::string(" ") + sign);
    if (at == std::string_view::npos) return -1;
    std::string_view rest = header.substr(at + 2);
    rest = rest.substr(0, rest.find(' '));
    const size_t comma = rest.find(',');
    return comma == std::string_view::npos ? 1 : std::atoi(std::string(rest.substr(comma + 1)).c_str());
  };
  old_lines = count('-');
  new_lines = count('+');
  return old_lines >= 0 && new_lines >= 0;
}

}  // namespace

std::string FileDiff::Text(const std::string& as_path) const {
  return (adds ? std::string("--- /dev/null\n") : "--- a/" + as_path + "\n") + (removes ? std::string("+++ /dev/null\n") : "+++ b/" + as_path + "\n") + hunks;
}

Result<std::vector<FileDiff>> ParseDiff(std::string_view text, const std::string& name) {
  std::vector<FileDiff> files;
  const std::vector<std::string_view> lines = Lines(text);
  int old_lines = 0, new_lines = 0;  // still to come in the current hunk
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (old_lines > 0 || new_lines > 0) {
      files.back().hunks.append(line).push_back('\n');
      const char first = line.empty() ? ' ' : line[0];
      if (first == ' ' || first == '-') --old_lines;
      if (first == ' ' || first == '+') --new_lines;
    } else if (Begins(line, "--- ") && i + 1 < lines.size() && Begins(lines[i + 1], "+++ ")) {
      const std::string from = PathOf(line), to = PathOf(lines[++i]);
      files.push_back({to == "/dev/null" ? from : to, from == "/dev/null", to == "/dev/null", ""});
    } else if (!files.empty() && Begins(line, "@@ ")) {
      if (!HunkSizes(line, old_lines, new_lines)) return Error{ErrorKind::kData, name + ": malformed hunk header '" + std::string(line) + "'"};
      files.back().hunks.append(line).push_back('\n');
    } else if (!files.empty() && Begins(line, "\\ No newline")) {
      files.back().hunks.append(line).push_back('\n');
    } else if (Begins(line, "rename from ") || Begins(line, "Binary files ") || Begins(line, "GIT binary patch")) {
      return Error{ErrorKind::kData, name + ": '" + std::string(line) + "' cannot be applied; only changed text is"};
    }
  }
  if (old_lines > 0 || new_lines > 0) return Error{ErrorKind::kData, name + ": the last hunk is cut short"};
  if (files.empty()) return Error{ErrorKind::kData, name + " is no unified diff (no line '--- FILE' followed by '+++ FILE')"};
  return files;
}

std::string InstalledPath(const std::string& path) {
  for (const std::string package : {"torch/", "liger_kernel/"}) {
    if (Begins(path, package)) return path;
    if (Begins(path, "src/" + package)) return path.substr(4);
  }
  return "";
}

std::string ModuleOf(const std::string& installed_path) {
  std::string module = installed_path.substr(0, installed_path.size() - std::string_view(".py").size());
  constexpr std::string_view kPackage = "/__init__";
  if (module.size() > kPackage.size() && module.substr(module.size() - kPackage.size()) == kPackage) module.resize(module.size() - kPackage.size());
  return ReplaceAll(module, "/", ".");
}

}  // namespace flce
