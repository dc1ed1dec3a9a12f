#include "harness/provision/environment.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/base/text.h"
#include "harness/base/version.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kStampFormat = 1;

/// The text assigned to `name` in torch/version.py: `name = '...'`, with or without a type annotation.
std::string Assigned(std::string_view source, std::string_view name) {
  for (const std::string_view line : Lines(source)) {
    if (line.substr(0, name.size()) != name) continue;
    const std::string_view rest = line.substr(name.size());
    if (rest.empty() || (rest[0] != ' ' && rest[0] != ':' && rest[0] != '=')) continue;
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = Trim(rest.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"')) return std::string(value.substr(1, value.find(value.front(), 1) - 1));
  }
  return "";
}

bool IsSharedLibrary(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.find(".so") != std::string::npos && (name.size() < 3 || name.substr(name.size() - 3) == ".so" || name.find(".so.") != std::string::npos);
}

}  // namespace

const char* FlavourName(Flavour flavour) {
  switch (flavour) {
    case Flavour::kLean: return "lean";
    case Flavour::kFull: return "full";
    case Flavour::kExternal: return "external";
  }
  return "";
}

std::string DistributionVersion(const fs::path& site_packages, const std::string& name) {
  constexpr std::string_view kEnd = ".dist-info";
  const std::string lead = ToLower(ReplaceAll(name, "-", "_")) + "-";
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(site_packages, code)) {
    const std::string folder = entry.path().filename().string();
    if (folder.size() <= lead.size() + kEnd.size() || folder.substr(folder.size() - kEnd.size()) != kEnd) continue;
    if (ToLower(folder.substr(0, lead.size())) == lead) return folder.substr(lead.size(), folder.size() - lead.size() - kEnd.size());
  }
  return "";
}

Status ReadTorchFacts(const fs::path& site_packages, Environment& environment) {
  const Result<std::string> source = ReadFile(site_packages / "torch" / "version.py");
  if (!source) return Error{ErrorKind::kNotFound, "there is no torch in " + site_packages.string()};
  environment.site_packages = site_packages;
  environment.torch_build = Assigned(*source, "__version__");
  environment.torch_git = Assigned(*source, "git_version");
  environment.cuda = Assigned(*source, "cuda");
  environment.torch_version = DistributionVersion(site_packages, "torch");
  if (environment.torch_version.empty()) environment.torch_version = environment.torch_build;
  environment.triton_version = DistributionVersion(site_packages, "triton");
  if (environment.triton_version.empty()) environment.triton_version = DistributionVersion(site_packages, "pytorch-triton");
  if (environment.torch_build.empty()) return Error{ErrorKind::kData, (site_packages / "torch/version.py").string() + " names no version"};
  return Done{};
}

std::vector<fs::path> LibrariesOf(const fs::path& site_packages) {
  std::vector<fs::path> libraries;
  for (const char* folder : {"torch", "torch/lib", "triton/_C"}) {
    std::error_code code;
    for (const fs::directory_entry& entry : fs::directory_iterator(site_packages / folder, code))
      if (entry.is_regular_file(code) && IsSharedLibrary(entry.path())) libraries.push_back(entry.path());
  }
  std::sort(libraries.begin(), libraries.end());
  return libraries;
}

Json StampToJson(const Environment& e, const std::vector<fs::path>& libraries, uint64_t bytes, const std::string& created) {
  Json sizes = Json::object();
  for (const fs::path& library : libraries) {
    std::error_code code;
    sizes[library.lexically_relative(e.root).string()] = fs::file_size(library, code);
  }
  return {{"format", kStampFormat},
          {"id", e.id},
          {"flavour", FlavourName(e.flavour)},
          {"created", created},
          {"python", e.python_version},
          {"site_packages", e.site_packages.lexically_relative(e.root).string()},
          {"torch", e.torch_version},
          {"torch_build", e.torch_build},
          {"torch_git", e.torch_git},
          {"triton", e.triton_version},
          {"cuda", e.cuda},
          {"lock_sha256", e.lock_sha256},
          {"bytes", bytes},
          {"libraries", std::move(sizes)}};
}

std::optional<Environment> LoadStamp(const fs::path& root) {
  const Result<std::string> text = ReadFile(root / "stamp.json");
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (json.at("format") != kStampFormat) return std::nullopt;
    Environment e;
    e.id = json.at("id").get<std::string>();
    e.flavour = json.at("flavour") == "full" ? Flavour::kFull : Flavour::kLean;
    e.root = root;
    e.python = root / "env/bin/python";
    e.site_packages = root / json.at("site_packages").get<std::string>();
    e.python_version = json.at("python").get<std::string>();
    e.torch_version = json.at("torch").get<std::string>();
    e.torch_build = json.at("torch_build").get<std::string>();
    e.torch_git = json.at("torch_git").get<std::string>();
    e.triton_version = json.at("triton").get<std::string>();
    e.cuda = json.at("cuda").get<std::string>();
    e.lock_sha256 = json.at("lock_sha256").get<std::string>();
    e.lock_file = root / "lock.json";
    e.reused = true;
    std::error_code code;
    if (!fs::exists(e.python, code) || !fs::exists(e.site_packages / "torch/version.py", code) || !fs::exists(e.lock_file, code)) return std::nullopt;
    for (const auto& [name, size] : json.at("libraries").items())
      if (fs::file_size(root / name, code) != size.get<uint64_t>() || code) return std::nullopt;
    return e;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

uint64_t StampedBytes(const fs::path& root) {
  const Result<std::string> text = ReadFile(root / "stamp.json");
  if (!text) return 0;
  const Json json = Json::parse(*text, nullptr, false);
  return json.is_object() ? json.value("bytes", uint64_t{0}) : 0;
}

}  // namespace flce
