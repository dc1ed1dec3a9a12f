#include "harness/numerics/judge_command.h"

#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/base/text.h"
#include "harness/numerics/measure.h"
#include "harness/numerics/tensor_io.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

// What the cell's folder says about itself.
struct CellFacts {
  std::string fix, liger;
  bool computed = true;
  bool fp32_accumulator = true;
  std::vector<std::string> parameters;  // those that are set
  std::optional<int64_t> budget;
  std::string underived;  // why the case is not the FLCE that kernels/ derives bounds for, "" if it is
};

// The case's parameters, from the request that its worker was given. What is not known to leave the
// arithmetic as it is in kernels/ makes the case one that only its bits are judged by.
void ReadParameters(const Json& parameters, CellFacts* facts) {
  const std::vector<std::string> harmless = {"dtype", "accum_dtype", "weight_scale", "ignore_fraction",
                                             "through"};
  const auto no_value = [](const Json& value) { return value.is_null() || value == false; };
  if (!parameters.is_object()) return;
  facts->fp32_accumulator = parameters.value("accum_dtype", Json()) == "float32";
  if (!facts->fp32_accumulator) facts->underived = "grad_w is not accumulated in fp32";
  for (const auto& [name, value] : parameters.items()) {
    if (name == "arguments" || no_value(value)) continue;
    facts->parameters.push_back(name);
    if (std::find(harmless.begin(), harmless.end(), name) == harmless.end())
      facts->underived = "the case sets '" + name + "'";
  }
  const Json arguments = parameters.value("arguments", Json());
  if (!arguments.is_object()) return;
  for (const auto& [name, value] : arguments.items()) {
    if (name == "chunk_mem_const" && value.is_number_integer()) {
      facts->budget = value.get<int64_t>();
    } else if (!no_value(value)) {
      facts->underived = "the case passes '" + name + "'";
    }
  }
}

Result<CellFacts> ReadFacts(const fs::path& folder) {
  const fs::path path = folder / "observation.json";
  FLCE_TRY(const std::string text, ReadFile(path));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object())
    return Error{ErrorKind::kData, path.string() + " is no JSON object"};
  CellFacts facts;
  const Json cell_id = json.value("cell_id", Json());
  // case/torch-VERSION/liger-VERSION/FIX/DEVICE, and perhaps /SHAPE and /seed-N
  const std::vector<std::string> parts = Split(cell_id.is_string() ? cell_id.get<std::string>() : "", '/');
  if (parts.size() >= 5 && parts[2].starts_with("liger-")) {
    facts.liger = parts[2].substr(6);
    facts.fix = parts[3];
  }
  facts.computed = json.value("values", Json()) == "computed";
  // A folder that was made by hand has no request; its files are then taken for plain FLCE.
  if (const Result<std::string> request = ReadFile(folder / "request.json")) {
    const Json parsed = Json::parse(*request, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_object())
      ReadParameters(parsed.value("case", Json::object()).value("parameters", Json()), &facts);
  }
  return facts;
}

struct Evidence {
  Problem problem;
  Gradients eager, compiled;
};

Result<Gradients> LoadGradients(const SafetensorsFile& file, const std::string& prefix) {
  Gradients gradients;
  FLCE_TRY(gradients.loss, LoadTensor(file, prefix + "loss"));
  FLCE_TRY(gradients.grad_x, LoadTensor(file, prefix + "grad_x"));
  FLCE_TRY(gradients.grad_w, LoadTensor(file, prefix + "grad_w"));
  return gradients;
}

// Whether the gradients fit the inputs is checked here, so that the arithmetic may rely on it.
Status CheckShapes(const Problem& problem, const Gradients& gradients, const std::string& whose) {
  const auto bad = [&](const char* what) {
    return Error{ErrorKind::kData, whose + " " + what + " does not fit the inputs"};
  };
  if (gradients.loss.numel() != 1) return bad("loss");
  if (gradients.grad_x.sizes() != problem.x.sizes() ||
      gradients.grad_x.scalar_type() != problem.x.scalar_type())
    return bad("grad_x");
  if (gradients.grad_w.sizes() != problem.w.sizes() ||
      gradients.grad_w.scalar_type() != problem.w.scalar_type())
    return bad("grad_w");
  return Done{};
}

Result<Evidence> LoadEvidence(const JudgeCommand& command) {
  FLCE_TRY(const SafetensorsFile inputs, SafetensorsFile::Open(command.inputs));
  FLCE_TRY(const SafetensorsFile eager, SafetensorsFile::Open(command.eager));
  FLCE_TRY(const SafetensorsFile compiled, SafetensorsFile::Open(command.compiled));
  Evidence evidence;
  FLCE_TRY(evidence.problem, LoadProblem(inputs, command.input_prefix, at::Device(command.device)));
  FLCE_TRY(evidence.eager, LoadGradients(eager, command.eager_prefix));
  FLCE_TRY(evidence.compiled, LoadGradients(compiled, command.compiled_prefix));
  FLCE_TRY_DO(CheckShapes(evidence.problem, evidence.eager, "eager's"));
  FLCE_TRY_DO(CheckShapes(evidence.problem, evidence.compiled, "the compiled run's"));
  return evidence;
}

Status MeasureCell(const JudgeCommand& command, const Version& liger, const FileComparison& comparison,
                   const Claim& claim, Measures* measures) {
  FLCE_TRY(const ChunkRule rule, ChunkRule::Of(liger, command.budget));
  const Result<Evidence> evidence = LoadEvidence(command);
  if (!evidence) {
    if (evidence.error().kind == ErrorKind::kIo) return evidence.error();
    // Other dtypes have no derivation here; a claim of equal bits needs none.
    measures->missing = evidence.error().message;
    return Done{};
  }
  bool bound_grad_w = claim.tensors.at("grad_w").kind == ClaimKind::kChunkRounding;
  for (const TensorDiff& tensor : comparison.tensors)
    bound_grad_w |= tensor.name == "grad_w" && !tensor.Bitwise();
  const Problem& problem = evidence->problem;
  *measures = Measure(problem, Chunks(problem.Rows(), problem.Hidden(), problem.Vocabulary(), rule),
                      evidence->eager, evidence->compiled, bound_grad_w);
  return Done{};
}

// What the fix claims, as far as it applies to what this case computes.
Claim Applying(const Tolerances& tolerances, const Claim& made, const CellFacts& facts, const FileComparison& comparison) {
  Claim claim = made;
  if (!facts.fp32_accumulator) claim.tensors["grad_w"] = tolerances.no_fp32_accumulator;
  // Then the compiled model feeds FLCE other activations than eager's does.
  if (HasModules(comparison)) claim.tensors = {{"*", made.tensors.at("*")}};
  for (const std::string& parameter : facts.parameters) {
    if (const auto found = tolerances.parameters.find(parameter); found != tolerances.parameters.end())
      claim.tensors = {{"*", found->second}};
  }
  return claim;
}

// The tensors that a run of plain FLCE cannot do without.
Result<std::vector<std::string>> Required(const JudgeCommand& command, const CellFacts& facts) {
  if (!facts.underived.empty()) return std::vector<std::string>{};
  FLCE_TRY(const SafetensorsFile inputs, SafetensorsFile::Open(command.inputs));
  for (const char* name : {"x", "w", "target"}) {
    if (inputs.Find(command.input_prefix + name) == nullptr) return std::vector<std::string>{};
  }
  return std::vector<std::string>{"loss", "grad_x", "grad_w"};
}

// Where no bound was derived: the distance to the worker's run in f32, if there is one.
Status MeasureByReference(const JudgeCommand& command, const FileComparison& comparison, Measures* measures) {
  const fs::path path = fs::path(command.cell) / "reference.safetensors";
  std::error_code ignored;
  if (command.cell.empty() || measures->missing.empty() || !fs::exists(path, ignored)) return Done{};
  FLCE_TRY(const SafetensorsFile reference, SafetensorsFile::Open(path));
  FLCE_TRY(const SafetensorsFile eager, SafetensorsFile::Open(command.eager));
  FLCE_TRY(const SafetensorsFile compiled, SafetensorsFile::Open(command.compiled));
  FLCE_TRY(measures->oracle, MeasureAgainst(reference, eager, compiled, comparison));
  return Done{};
}

// Fills in what the cell's folder determines, and returns what else it says.
Result<CellFacts> Complete(JudgeCommand& command) {
  if (command.cell.empty()) {
    if (command.inputs.empty() || command.eager.empty() || command.compiled.empty() || command.fix.empty() ||
        command.liger.empty()) {
      return Error{ErrorKind::kUsage,
                   "judge needs --cell, or --inputs, --eager, --compiled, --fix and --liger"};
    }
    return CellFacts{};
  }
  const fs::path folder = command.cell;
  FLCE_TRY(const CellFacts facts, ReadFacts(folder));
  if (command.fix.empty()) command.fix = facts.fix;
  if (command.liger.empty()) command.liger = facts.liger;
  if (command.inputs.empty()) command.inputs = (folder / "inputs.safetensors").string();
  if (command.eager.empty()) command.eager = (folder / "eager.safetensors").string();
  if (command.compiled.empty()) command.compiled = (folder / "compiled.safetensors").string();
  if (!command.budget) command.budget = facts.budget;
  return facts;
}

Result<Json> JudgeCell(JudgeCommand command, std::vector<std::string>* violations) {
  FLCE_TRY(const CellFacts facts, Complete(command));
  if (!facts.computed) return Json{{"computed", false}};
  const std::optional<Version> liger = Version::Parse(command.liger);
  if (!liger)
    return Error{ErrorKind::kUsage, "'" + command.liger + "' is no version of Liger: name one with --liger"};
  FLCE_TRY(const Tolerances tolerances, Tolerances::Load(command.claims));
  FLCE_TRY(const Claim* claim, tolerances.For(command.fix, *liger));
  CompareOptions options;
  options.prefix_a = command.eager_prefix;
  options.prefix_b = command.compiled_prefix;
  FLCE_TRY(const FileComparison comparison, CompareFiles(command.eager, command.compiled, options));
  Measures measures;
  measures.missing = facts.underived;
  if (facts.underived.empty()) FLCE_TRY_DO(MeasureCell(command, *liger, comparison, *claim, &measures));
  FLCE_TRY_DO(MeasureByReference(command, comparison, &measures));
  FLCE_TRY(const std::vector<std::string> required, Required(command, facts));
  const Judgement judgement =
      Judge(comparison, Applying(tolerances, *claim, facts, comparison), measures, tolerances.eager_error_factor, required);
  *violations = judgement.violations;
  Json json = ToJson(judgement);
  json["claimed_by"] = {{"fix", claim->fix}, {"liger", claim->liger.text()}};
  json["not_measured"] = measures.missing.empty() ? Json(nullptr) : Json(measures.missing);
  return json;
}

}  // namespace

CLI::App* SetUpJudge(CLI::App& program, JudgeCommand& command) {
  CLI::App* app = program.add_subcommand("judge", "Judge a cell's tensors against what its fix claims");
  app->add_option("--cell", command.cell, "The cell's folder");
  app->add_option("--claim", command.claims, "The claims (cases/tolerances.json)")->required();
  app->add_option("--fix", command.fix, "The fix whose claim it is (default: the cell's)");
  app->add_option("--liger", command.liger, "Liger's release (default: the cell's)");
  app->add_option("--chunk-budget", command.budget, "chunk_mem_const of the call (default 1)");
  app->add_option("--inputs", command.inputs, "File with x, w and target");
  app->add_option("--eager", command.eager, "File with eager's loss, grad_x and grad_w");
  app->add_option("--compiled", command.compiled, "File with the compiled run's");
  app->add_option("--input-prefix", command.input_prefix, "What the names in it begin with");
  app->add_option("--eager-prefix", command.eager_prefix, "What the names in it begin with");
  app->add_option("--compiled-prefix", command.compiled_prefix, "What the names in it begin with");
  app->add_option("--device", command.device, "Where to compute: cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app->add_option("--json", command.json, "Where the verdict goes (default -, standard output)");
  return app;
}

int RunJudge(const JudgeCommand& command, std::ostream& out, std::ostream& err) {
  std::vector<std::string> violations;
  const Result<Json> json = JudgeCell(command, &violations);
  if (!json) {
    err << "flce-numerics: " << json.error().message << "\n";
    return 2;
  }
  const std::string text = json->dump(2) + "\n";
  if (command.json == "-") {
    out << text;
  } else if (const Status written = WriteFileAtomically(command.json, text); !written) {
    err << "flce-numerics: " << written.error().message << "\n";
    return 2;
  }
  for (const std::string& violation : violations) err << "flce-numerics: " << violation << "\n";
  return violations.empty() ? 0 : 1;
}

}  // namespace flce
