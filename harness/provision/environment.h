#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"

namespace flce {

enum class Flavour {
  kLean,      ///< torch, triton and pure Python, stubs for NVIDIA's libraries: for the emulated device
  kFull,      ///< every dependency: for a real GPU
  kExternal,  ///< somebody else's installation, used as it is
};
const char* FlavourName(Flavour flavour);

/// A Python environment that holds one torch.
struct Environment {
  std::string id;  ///< "torch-2.13.0-lean-cp311"; the path for an external one
  Flavour flavour = Flavour::kLean;
  fs::path root;           ///< envs/<id>; empty for an external one
  fs::path python;         ///< program name for the embedded interpreter
  fs::path site_packages;  ///< folder that holds torch/
  std::vector<fs::path> library_dirs;  ///< for LD_LIBRARY_PATH: the stubs; empty for full and external
  std::string python_version;          ///< "3.11.2"
  std::string torch_version;           ///< "2.13.0"
  std::string torch_build;             ///< "2.13.0+cu130", as torch.__version__ says
  std::string torch_git, triton_version;
  std::string cuda;         ///< "13.0"; empty for a build without CUDA
  std::string lock_sha256;  ///< identity of the installed files; empty for an external one
  fs::path lock_file;       ///< lock.json; requirements.txt beside it installs the same files again
  bool reused = false;      ///< it was there
  std::shared_ptr<FileLock> in_use;  ///< keeps it from being evicted while held
};

/// What torch says of itself without being imported, from torch/version.py and the packages' metadata folders.
/// kNotFound when there is no torch in `site_packages`.
Status ReadTorchFacts(const fs::path& site_packages, Environment& environment);

/// The version of an installed distribution, from its dist-info folder; "" when there is none.
std::string DistributionVersion(const fs::path& site_packages, const std::string& name);

/// stamp.json, written last: what is there, and the size of each of its libraries.
nlohmann::ordered_json StampToJson(const Environment& environment, const std::vector<fs::path>& libraries, uint64_t bytes, const std::string& created);
/// The environment of a stamp; nullopt when the stamp is absent, of another format, or does not match what is on disk
/// (a library that is gone or has another size): then it must be made again.
std::optional<Environment> LoadStamp(const fs::path& root);
/// Bytes it held when stamped; 0 when unknown.
uint64_t StampedBytes(const fs::path& root);

/// Shared libraries of torch and triton below `site_packages`: what has to find NVIDIA's libraries.
std::vector<fs::path> LibrariesOf(const fs::path& site_packages);

}  // namespace flce
