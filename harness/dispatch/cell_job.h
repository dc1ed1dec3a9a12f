#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "harness/base/result.h"
#include "harness/base/subprocess.h"
#include "harness/dispatch/worker_request.h"

namespace flce {

/// A cell with all that its process needs.
struct CellJob {
  WorkerRequest request;
  fs::path worker;                  ///< flce-worker
  fs::path emulator;                ///< libflce_emulated_cuda.so; empty: a real GPU
  fs::path stubs;                   ///< folder of stub libraries; empty: none
  fs::path kept;                    ///< folder of what cells of one environment share: Python's bytecode, Triton's host modules; empty: none
  uint64_t memory_limit_bytes = 0;  ///< private resident memory of the process group; 0: none
  bool sleeps = false;              ///< takes no core once it runs: a zygote gives it no place of its own
  bool keep_private = false;        ///< keep caches and temporary files, for a look at generated code
  std::map<std::string, std::string> environment;  ///< further variables
  double order = 0;                 ///< free for the caller (its index, say)
  int kills = 0;                    ///< times its process was killed from outside; counted by the engine
};

/// A process that died of a SIGKILL that no part of this program sent says nothing of the cell: the kernel was short of
/// memory, or somebody cleaned up. The cell is run again, this often.
constexpr int kKillsForgiven = 2;

/// Files of a cell's folder.
struct CellFiles {
  explicit CellFiles(const fs::path& folder)
      : request(folder / "request.json"),
        observation(folder / "observation.json"),
        progress(folder / "progress.ndjson"),
        out(folder / "stdout.txt"),
        err(folder / "stderr.txt"),
        private_files(folder / "private") {}
  fs::path request, observation, progress, out, err;
  fs::path private_files;  ///< HOME, TMPDIR, compiler caches: removed when the cell ends
};

/// Makes the cell's folder ready: request.json, private folders, nothing left of an earlier try.
Status PrepareCellFolder(const CellJob& job);

/// The process environment of a worker, as changes to ours: the emulator preloaded, stubs and its libcuda found, caches
/// and HOME private, what would reach into the interpreter removed. Variables that change what is compiled
/// (TORCHDYNAMO_DISABLE, say) stay: they are part of what is asked, and the observation names them.
Result<std::map<std::string, std::optional<std::string>>> WorkerEnvironment(const CellJob& job);

/// argv, environment, streams, deadline. `grace` is added to the request's deadline, which the worker itself keeps.
Result<ProcessOptions> WorkerProcess(const CellJob& job);

}  // namespace flce
