#include "reports/reproduction.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/model/json_reader.h"
#include "reports/clean_text.h"
#include "reports/words.h"

namespace flce {
namespace {

/// A Python literal of the same value. Text is written in ASCII, so that nothing in it ends the literal or the line.
std::string PythonLiteral(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const Json& item : value) items.push_back(PythonLiteral(item));
    return "[" + Join(items, ", ") + "]";
  }
  if (value.is_object()) {
    std::vector<std::string> items;
    for (const auto& [key, item] : value.items()) items.push_back(PythonLiteral(Json(key)) + ": " + PythonLiteral(item));
    return "{" + Join(items, ", ") + "}";
  }
  // JSON's escapes of a string mean the same in Python, but for pairs of surrogates: those characters are replaced.
  if (value.is_string()) return ReplaceAll(value.dump(-1, ' ', true, Json::error_handler_t::replace), "\\ud", "\\\\ud");
  return value.dump();
}

std::string DtypeLiteral(const Json& parameters, const char* key, const std::string& fallback) {
  const auto it = parameters.find(key);
  if (it == parameters.end()) return fallback;
  if (!it->is_string()) return "None";
  const std::string name = it->get<std::string>();
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return plain ? "torch." + name : "None";
}

bool IsIdentifier(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Json ParseOrEmpty(const std::string& text) {
  Result<Json> json = ParseJson(text.empty() ? "{}" : text, "parameters");
  return json.ok() && json->is_object() ? *json : Json::object();
}

/// What must be in the failure for it to be this one.
std::vector<std::string> ProofTexts(const CellRecord& cell, const ReportOptions& options) {
  const auto signature = options.signatures.find(cell.verdict.signature);
  if (signature != options.signatures.end() && !signature->second.proof.empty()) return signature->second.proof;
  std::vector<std::string> proof;
  if (!cell.exception) return proof;
  const std::string root = Truncate(FirstLine(ToValidUtf8(cell.exception->chain.back().message.substr(0, 400))), 300);
  if (!root.empty()) proof.push_back(root.substr(0, root.find("… [")));
  if (!cell.exception->target.empty()) proof.push_back("target: " + cell.exception->target);
  return proof;
}

/// The tensors and the step of the fused linear cross entropy.
std::string FlceBody(const Json& parameters, const Shape& shape, uint64_t seed) {
  const std::string dtype = DtypeLiteral(parameters, "dtype", "torch.bfloat16");
  const std::string weight_dtype = DtypeLiteral(parameters, "weight_dtype", dtype);
  const std::string bt = std::to_string(shape.bt), h = std::to_string(shape.h), v = std::to_string(shape.v);
  std::string scale;
  if (const auto it = parameters.find("weight_scale"); it != parameters.end() && it->is_number() && *it != 1) scale = " * " + it->dump();
  std::vector<std::string> arguments = {"accum_dtype=" + DtypeLiteral(parameters, "accum_dtype", "None")};
  if (const auto it = parameters.find("arguments"); it != parameters.end() && it->is_object())
    for (const auto& [name, value] : it->items())
      if (IsIdentifier(name)) arguments.push_back(name + "=" + PythonLiteral(value));
  const bool bias = parameters.contains("bias") && parameters["bias"] == true;
  const bool frozen = parameters.contains("frozen_weight") && parameters["frozen_weight"] == true;
  std::string out =
      "from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce\n\n"
      "make = torch.Generator().manual_seed(" + std::to_string(seed) + ")\n"
      "tensors = {\n"
      "    \"x\": torch.randn(" + bt + ", " + h + ", generator=make).to(\"cuda\", " + dtype + "),\n"
      "    \"w\": " + (scale.empty() ? "" : "(") + "torch.randn(" + v + ", " + h + ", generator=make)" + scale + (scale.empty() ? "" : ")") + ".to(\"cuda\", " + weight_dtype + "),\n"
      "    \"target\": torch.randint(" + v + ", (" + bt + ",), generator=make).cuda(),\n";
  if (bias) out += "    \"bias\": torch.randn(" + v + ", generator=make).to(\"cuda\", " + weight_dtype + "),\n";
  out += "}\ntrainable = [\"x\"" + std::string(frozen ? "" : ", \"w\"") + (bias ? ", \"bias\"" : "") + "]\n\n";
  out += "def step(x, w, target" + std::string(bias ? ", bias" : "") + "):\n    return flce(x, w, target, " + (bias ? "bias=bias, " : "") + Join(arguments, ", ") + ")\n";
  return out;
}

std::string CompileArguments(const Json& compile) {
  std::string out;
  if (compile.contains("fullgraph") && compile["fullgraph"] == true) out += ", fullgraph=True";
  if (compile.contains("dynamic") && compile["dynamic"].is_boolean()) out += std::string(", dynamic=") + (compile["dynamic"].get<bool>() ? "True" : "False");
  if (compile.contains("mode") && compile["mode"].is_string()) out += ", mode=" + PythonLiteral(compile["mode"]);
  return out;
}

}  // namespace

std::string ReproductionScript(const CellRecord& cell, const ReportOptions& options) {
  const auto info = options.cases.find(cell.case_name);
  if (info == options.cases.end() || info->second.module != "flce_case") return "";
  const Json parameters = ParseOrEmpty(info->second.parameters_json), compile = ParseOrEmpty(info->second.compile_json);
  Json proof = Json::array();
  for (const std::string& text : ProofTexts(cell, options)) proof.push_back(text);
  const auto comment = [&](const std::string& text) { return "# " + Scrub(ReadableLine(text, 400), options.private_words) + "\n"; };
  const std::string autocast = parameters.contains("autocast") ? DtypeLiteral(parameters, "autocast", "None") : "None";

  std::string out = comment("Repeats one cell of flce-repro: " + cell.case_name + ", " + CellWords(cell) + ".");
  out += comment("Made with Python " + cell.python + ", torch " + cell.torch + ", triton " + cell.triton + ", liger-kernel " + cell.liger + ".");
  if (cell.fix != "none" && !cell.fix.empty()) out += comment("The cell ran with the fix '" + cell.fix + "': apply it first.");
  if (cell.device_kind == DeviceKind::kEmulated) out += comment("The cell ran on an emulated GPU; a real one of compute capability " + cell.capability + " should say the same.");
  out +=
      "import contextlib, io, logging, platform\n"
      "from importlib.metadata import version\n\n"
      "import torch\n\n"
      "PROOF = " + PythonLiteral(proof) + "  # all of it is in the failure\n\n"
      "def end(words, text=\"\", status=1):\n"
      "    line = next((l for l in text.splitlines() if PROOF and PROOF[0] in l), (text.splitlines() or [\"\"])[0])\n"
      "    print(\"Result: \", words, *([\"—\", line.strip()[:300]] if line else []))\n"
      "    raise SystemExit(status)\n\n"
      "def texts(error):  # of the exception and of all that it hangs on\n"
      "    seen = []\n"
      "    while error is not None and error not in seen:\n"
      "        seen.append(error)\n"
      "        error = getattr(error, \"inner_exception\", None) or error.__cause__ or error.__context__\n"
      "    return \"\\n\".join(f\"{type(e).__name__}: {e}\" for e in seen)\n\n"
      "print(\"OS:     \", platform.platform(), \"\\nPython: \", platform.python_version(), \"\\nPyTorch:\", torch.__version__)\n"
      "print(\"Triton: \", version(\"triton\"), \"\\nCUDA:   \", torch.version.cuda)\n"
      "if not torch.cuda.is_available() or torch.version.hip is not None:\n"
      "    end(\"SKIP\", \"needs an NVIDIA GPU\", 2)\n"
      "print(\"GPU:    \", torch.cuda.get_device_name(), torch.cuda.get_device_capability())\n"
      "print(\"Case:   \", " + PythonLiteral(Json(ReadableLine(cell.case_name, 100))) + ")\n";
  out += FlceBody(parameters, cell.shape.value_or(info->second.shape), info->second.seed);
  out +=
      "\ndef run(function):\n"
      "    inputs = {name: t.clone().requires_grad_(name in trainable) for name, t in tensors.items()}\n";
  out += autocast == "None" ? "    loss = function(**inputs)\n" : "    with torch.autocast(\"cuda\", dtype=" + autocast + "):\n        loss = function(**inputs)\n";
  out +=
      "    loss.backward()\n"
      "    torch.cuda.synchronize()\n"
      "    return [inputs[name].grad for name in trainable]\n\n"
      "logging.disable(logging.CRITICAL)\n";
  if (compile.contains("capture_scalar_outputs") && compile["capture_scalar_outputs"] == true)
    out += "torch._dynamo.config.capture_scalar_outputs = True\n";
  out +=
      "try:\n"
      "    eager = run(step)\n"
      "except Exception as error:\n"
      "    end(\"EAGER FAILED\", texts(error))\n"
      "try:\n"
      "    with contextlib.redirect_stderr(io.StringIO()):\n"
      "        compiled = run(torch.compile(step" + CompileArguments(compile) + "))\n"
      "except Exception as error:\n"
      "    known = PROOF and all(part in texts(error) for part in PROOF)\n"
      "    end(" + std::string(cell.verdict.outcome == Outcome::kReproduced ? "\"REPRODUCED\" if known else \"UNEXPECTED\"" : "\"UNEXPECTED\"") + ", texts(error), 0 if known else 1)\n"
      "for name, a, b in zip(trainable, eager, compiled):\n"
      "    print(f\"grad_{name}: largest difference from eager {(a.float() - b.float()).abs().max().item():g}\")\n"
      "end(\"NOT REPRODUCED\")\n";
  return out;
}

std::string RepeatCommand(const CellRecord& cell) {
  const auto quoted = [](const std::string& text) {
    const bool plain = !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-=,:") == std::string::npos;
    return plain ? text : "'" + ReplaceAll(text, "'", "'\\''") + "'";
  };
  std::string command = "scripts/flce-repro --torch " + quoted(PublicVersion(cell.torch)) + " --liger " + quoted(cell.liger) + " --case " + quoted(cell.case_name);
  if (cell.fix != "none" && !cell.fix.empty()) command += " --fix " + quoted(cell.fix);
  command += cell.device_kind == DeviceKind::kEmulated ? " --device emulated --capability " + quoted(cell.capability) : " --device cuda";
  if (cell.shape) command += " --shape " + Text(*cell.shape);
  return command;
}

}  // namespace flce
