#include "harness/provision/stubs.h"

#include <unistd.h>

#include <cstdlib>

#include "harness/base/text.h"

namespace flce {
namespace {

/// "libcudnn" of "libcudnn.so".
std::string Stem(const std::string& library) { return library.substr(0, library.find(".so")); }

/// The rule whose library is `soname` ("libcublas.so.13"), or whose name begins it ("libcudnn_ops.so.9").
const StubRule* RuleOf(const std::string& soname, const std::vector<StubRule>& rules) {
  const StubRule* best = nullptr;
  for (const StubRule& rule : rules) {
    const std::string stem = Stem(rule.library);
    const bool begins = soname.compare(0, stem.size(), stem) == 0;
    const bool ends = begins && soname.size() > stem.size() && (soname[stem.size()] == '.' || soname[stem.size()] == '_' || soname[stem.size()] == '-');
    if (ends && (best == nullptr || stem.size() > Stem(best->library).size())) best = &rule;
  }
  return best;
}

const StubRule* RuleOfSymbol(const std::string& name, const std::vector<StubRule>& rules) {
  for (const StubRule& rule : rules)
    if (MatchesAny(rule.symbols, name)) return &rule;
  return nullptr;
}

std::string FindInPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& dir : Split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const fs::path candidate = fs::path(dir) / program;
    if (!dir.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return "";
}

}  // namespace

size_t StubLibrary::size() const {
  size_t count = 0;
  for (const auto& [node, names] : functions) count += names.size();
  for (const auto& [node, names] : objects) count += names.size();
  return count;
}

std::vector<StubLibrary> PlanStubs(const std::vector<ElfLibrary>& scanned, const std::set<std::string>& present,
                                   const std::vector<StubRule>& rules) {
  std::set<std::string> exported;
  std::map<std::string, StubLibrary> missing;
  std::map<const StubRule*, std::string> soname_of;
  for (const ElfLibrary& library : scanned) {
    exported.insert(library.exports.begin(), library.exports.end());
    for (const std::string& needed : library.needed) {
      const StubRule* rule = RuleOf(needed, rules);
      if (rule == nullptr || present.count(needed) > 0) continue;
      missing[needed] = {needed, rule->failure, {}, {}};
      if (Stem(needed) == Stem(rule->library)) soname_of[rule] = needed;
    }
  }
  for (const ElfLibrary& library : scanned) {
    // A node that is demanded but used by no symbol must exist all the same, or the loader refuses the library.
    for (const auto& [soname, node] : library.needed_versions)
      if (const auto found = missing.find(soname); found != missing.end()) found->second.functions[node];
    for (const ElfImport& import : library.imports) {
      std::string soname = import.library;
      if (soname.empty() && exported.count(import.name) == 0)
        if (const StubRule* rule = RuleOfSymbol(import.name, rules); rule != nullptr) soname = soname_of[rule];
      const auto found = missing.find(soname);
      if (found == missing.end()) continue;
      (import.is_object ? found->second.objects : found->second.functions)[import.version].insert(import.name);
    }
  }
  std::vector<StubLibrary> libraries;
  for (auto& [soname, library] : missing) libraries.push_back(std::move(library));
  return libraries;
}

std::string StubSource(const StubLibrary& library, const std::vector<std::string>& text_results) {
  std::string source =
      "/* Stands in for " + library.soname + ": every function fails and says its name. */\n"
      "extern long write(int, const void*, unsigned long);\n"
      "extern void flce_emu_record_unknown(const char*) __attribute__((weak));\n"
      "static unsigned long length(const char* text) { unsigned long n = 0; while (text[n]) ++n; return n; }\n"
      "static __attribute__((noinline)) long called(const char* name, char* said) {\n"
      "  if (flce_emu_record_unknown) flce_emu_record_unknown(name);\n"
      "  if (*said) return " + std::to_string(library.failure) + ";\n"
      "  *said = 1;\n"
      "  char line[256] = \"[stub] \";\n"
      "  unsigned long at = 7, n = length(name);\n"
      "  for (unsigned long i = 0; i < n && at < sizeof line - 8; ++i) line[at++] = name[i];\n"
      "  for (const char* end = \" called\\n\"; *end; ++end) line[at++] = *end;\n"
      "  if (write(2, line, at) < 0) {}\n"
      "  return " + std::to_string(library.failure) + ";\n"
      "}\n";
  // The C names are counters and the real ones assembler labels: a real name may be one the compiler knows.
  int count = 0;
  std::set<std::string> written;
  for (const auto& [node, names] : library.functions)
    for (const std::string& name : names) {
      if (!written.insert(name).second) continue;
      const std::string id = "f" + std::to_string(count++);
      const bool text = MatchesAny(text_results, name);
      source += (text ? "const char* " : "long ") + id + "(void) __asm__(\"" + name + "\");\n";
      const std::string call = "called(\"" + name + "\", &said);";
      source += (text ? "const char* " : "long ") + id + "(void) { static char said; " +
                (text ? call + " return \"stub library without this function\"; }\n" : "return " + call + " }\n");
    }
  for (const auto& [node, names] : library.objects)
    for (const std::string& name : names)
      if (written.insert(name).second) {
        const std::string id = "o" + std::to_string(count++);
        source += "extern char " + id + "[64] __asm__(\"" + name + "\");\nchar " + id + "[64];\n";
      }
  return source;
}

std::string StubVersionScript(const StubLibrary& library) {
  std::map<std::string, std::set<std::string>> nodes = library.functions;
  for (const auto& [node, names] : library.objects) nodes[node].insert(names.begin(), names.end());
  std::string script;
  for (const auto& [node, names] : nodes) {
    if (node.empty()) continue;
    script += node + " {";
    if (!names.empty()) script += " global:";
    for (const std::string& name : names) script += " \"" + name + "\";";
    script += " };\n";
  }
  return script;
}

Status BuildStubs(const std::vector<StubLibrary>& libraries, const std::vector<std::string>& text_results,
                  const std::string& compiler, const fs::path& dir, ProcessRunner& runner) {
  if (compiler.empty())
    return Error{ErrorKind::kEnvironment, "no C compiler (cc, gcc or clang in PATH, or $CC): Triton and the stub libraries need one; install gcc"};
  FLCE_TRY_DO(MakeDirectories(dir));
  FLCE_TRY(const TempDir work, TempDir::Make(dir, ".build-"));
  for (const StubLibrary& library : libraries) {
    const fs::path source = work.path() / (library.soname + ".c"), script = work.path() / (library.soname + ".map");
    FLCE_TRY_DO(WriteFileAtomically(source, StubSource(library, text_results)));
    ProcessOptions process;
    process.argv = {compiler, "-shared", "-fPIC", "-O1", "-fno-builtin", "-w", "-s", "-o", (dir / library.soname).string(), source.string(),
                    "-Wl,-soname," + library.soname, "-Wl,-z,noexecstack"};
    if (const std::string text = StubVersionScript(library); !text.empty()) {
      FLCE_TRY_DO(WriteFileAtomically(script, text));
      process.argv.push_back("-Wl,--version-script=" + script.string());
    }
    Result<ProcessResult> result = runner.Run(process, {});
    if (!result) return Error{ErrorKind::kEnvironment, "cannot start the C compiler " + compiler + ": " + result.error().message};
    if (!result->ok())
      return Error{ErrorKind::kEnvironment, compiler + " cannot build the stub of " + library.soname + " (" + Describe(result->state) + "): " + FirstLine(result->err)};
  }
  return Done{};
}

std::string FindCompiler() {
  if (const char* named = std::getenv("CC"); named != nullptr && *named != '\0') return named;
  for (const char* name : {"cc", "gcc", "clang"})
    if (std::string found = FindInPath(name); !found.empty()) return found;
  return "";
}

Status MakeLibcudaDirectory(const fs::path& driver, const fs::path& dir) {
  FLCE_TRY_DO(MakeDirectories(dir));
  for (const char* name : {"libcuda.so", "libcuda.so.1"}) {
    const fs::path link = dir / name;
    std::error_code code;
    if (fs::read_symlink(link, code) == driver) continue;
    fs::remove(link, code);
    fs::create_symlink(driver, link, code);
    if (code) return Error{ErrorKind::kIo, "cannot link " + link.string() + " to " + driver.string() + ": " + code.message()};
  }
  return Done{};
}

}  // namespace flce
