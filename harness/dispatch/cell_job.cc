#include "harness/dispatch/cell_job.h"

#include <nlohmann/json.hpp>

namespace flce {
namespace {

/// Variables of ours that would change the worker's interpreter, or point its caches away from the cell's own.
constexpr const char* kRemoved[] = {"PYTHONPATH",          "PYTHONHOME",     "PYTHONSTARTUP",      "PYTHONUSERBASE",
                                    "VIRTUAL_ENV",         "CONDA_PREFIX",   "TRITON_DUMP_DIR",    "TRITON_OVERRIDE_DIR",
                                    "TORCH_COMPILE_DEBUG", "TRITON_HOME",    "TORCH_EXTENSIONS_DIR", "TRITON_CACHE_MANAGER"};
/// Variables that select among real GPUs; the emulated machine has its own count.
constexpr const char* kRealDeviceOnly[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"};

}  // namespace

Status PrepareCellFolder(const CellJob& job) {
  const CellFiles files(job.request.output_dir);
  FLCE_TRY_DO(MakeDirectories(job.request.output_dir));
  for (const fs::path& stale : {files.observation, files.progress, files.out, files.err, files.private_files})
    FLCE_TRY_DO(RemoveTree(stale));
  for (const char* name : {"home", "tmp", "inductor", "triton", "cuda"}) FLCE_TRY_DO(MakeDirectories(files.private_files / name));
  if (!job.emulator.empty()) {
    std::error_code code;
    for (const char* name : {"libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1"}) {
      fs::create_symlink(job.emulator, files.private_files / "cuda" / name, code);
      if (code) return Error{ErrorKind::kIo, "cannot link " + job.emulator.string() + " into " + files.private_files.string() + ": " + code.message()};
    }
  }
  FLCE_TRY(const nlohmann::ordered_json request, ToJson(job.request));
  return WriteFileAtomically(files.request, request.dump(1) + "\n");
}

Result<std::map<std::string, std::optional<std::string>>> WorkerEnvironment(const CellJob& job) {
  const fs::path own = CellFiles(job.request.output_dir).private_files;
  std::map<std::string, std::optional<std::string>> environment;
  for (const char* name : kRemoved) environment[name] = std::nullopt;
  environment["HOME"] = (own / "home").string();
  environment["XDG_CACHE_HOME"] = (own / "home" / ".cache").string();
  environment["TMPDIR"] = (own / "tmp").string();
  environment["TORCHINDUCTOR_CACHE_DIR"] = (own / "inductor").string();
  environment["TRITON_CACHE_DIR"] = (own / "triton").string();
  environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1";
  environment["PYTHONNOUSERSITE"] = "1";
  // OpenBLAS's fork handler waits for its threads, which a forked cell does not have.
  environment["OPENBLAS_NUM_THREADS"] = "1";
  // Installed files are shared by hard links and are never written beside. Without bytecode a torch is compiled anew in
  // every process, which is most of an import's time.
  if (job.kept.empty()) {
    environment["PYTHONDONTWRITEBYTECODE"] = "1";
  } else {
    environment["PYTHONDONTWRITEBYTECODE"] = std::nullopt;
    environment["PYTHONPYCACHEPREFIX"] = (job.kept / "bytecode").string();
  }
  if (job.request.device.kind == DeviceKind::kEmulated) {
    for (const char* name : kRealDeviceOnly) environment[name] = std::nullopt;
    environment["LD_PRELOAD"] = job.emulator.string();
    environment["TRITON_LIBCUDA_PATH"] = (own / "cuda").string();
    // The emulator is NVML too: torch looks for it by name.
    environment["LD_LIBRARY_PATH"] = (own / "cuda").string() + (job.stubs.empty() ? "" : ":" + job.stubs.string());
    if (!job.kept.empty()) {
      // Linked with the emulator, so not for real devices; those have Triton build its launchers as for anyone.
      environment["TRITON_CACHE_MANAGER"] = "flce_worker.host_modules:HostModules";
      environment["FLCE_HOST_MODULES"] = (job.kept / "host-modules").string();
    }
    FLCE_TRY(environment["FLCE_EMU_PROFILE"], EmulatorProfileText(job.request.profile_document, job.request.device.count));
  }
  for (const auto& [name, value] : job.environment) environment[name] = value;
  return environment;
}

Result<ProcessOptions> WorkerProcess(const CellJob& job) {
  const CellFiles files(job.request.output_dir);
  ProcessOptions options;
  options.argv = {job.worker.string(), "--request", files.request.string()};
  FLCE_TRY(options.environment, WorkerEnvironment(job));
  options.working_directory = files.private_files / "tmp";
  options.stdout_file = files.out;
  options.stderr_file = files.err;
  options.deadline_s = job.request.deadline_s;
  return options;
}

}  // namespace flce
