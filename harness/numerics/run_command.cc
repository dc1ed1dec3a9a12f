#include "harness/numerics/run_command.h"

#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "harness/numerics/tensor_io.h"
#include "kernels/fused/fused.h"
#include "kernels/guarded/guarded.h"
#include "kernels/reference/reference.h"

namespace flce {
namespace {

Result<Gradients> Compute(const RunCommand& command, const Problem& problem) {
  const std::optional<Version> liger = Version::Parse(command.liger);
  if (!liger) return Error{ErrorKind::kUsage, "'" + command.liger + "' is no version of Liger"};
  FLCE_TRY(const ChunkRule rule, ChunkRule::Of(*liger, command.budget));
  const std::vector<Chunk> chunks = Chunks(problem.Rows(), problem.Hidden(), problem.Vocabulary(), rule);
  if (command.form == "fused") return FusedFlce(problem, chunks);
  if (command.form == "guarded") return GuardedFlce(problem, chunks);
  return ReferenceFlce(problem);
}

Status Run(const RunCommand& command) {
  FLCE_TRY(const SafetensorsFile inputs, SafetensorsFile::Open(command.inputs));
  FLCE_TRY(const Problem problem, LoadProblem(inputs, command.input_prefix, at::Device(command.device)));
  FLCE_TRY(const Gradients gradients, Compute(command, problem));
  const std::vector<TensorBytes> tensors = {ToBytes(command.output_prefix + "loss", gradients.loss),
                                            ToBytes(command.output_prefix + "grad_x", gradients.grad_x),
                                            ToBytes(command.output_prefix + "grad_w", gradients.grad_w)};
  return WriteSafetensors(command.output, tensors,
                          {{"form", command.form}, {"liger", command.liger}, {"device", command.device}});
}

}  // namespace

CLI::App* SetUpRun(CLI::App& program, RunCommand& command) {
  CLI::App* app = program.add_subcommand("run", "Run a native FLCE path and write what it computes");
  app->add_option("--form", command.form, "fused, guarded or reference (f64)")
      ->required()
      ->check(CLI::IsMember({"fused", "guarded", "reference"}));
  app->add_option("--inputs", command.inputs, "File with x, w and target")->required();
  app->add_option("--input-prefix", command.input_prefix, "What the names in it begin with");
  app->add_option("--output", command.output, "The file to write")->required();
  app->add_option("--output-prefix", command.output_prefix, "What the names in it shall begin with");
  app->add_option("--liger", command.liger, "The release whose chunks are taken");
  app->add_option("--chunk-budget", command.budget, "chunk_mem_const of the call (default 1)");
  app->add_option("--device", command.device, "Where to compute: cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  return app;
}

int RunNative(const RunCommand& command, std::ostream& err) {
  const Status status = Run(command);
  if (status) return 0;
  err << "flce-numerics: " << status.error().message << "\n";
  return 2;
}

}  // namespace flce
