#include "reports/reproduction.h"

#include <algorithm>
#include <cstring>

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

/// A regular expression that matches `text`, but for addresses, which differ from run to run.
std::string PatternOf(std::string_view text) {
  std::string pattern;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("0x")) {
      pattern += "0x\\w+";
      at += 2;
      while (at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at]))) ++at;
      continue;
    }
    if (std::strchr("\\^$.|?*+()[]{}", text[at]) != nullptr) pattern += '\\';
    pattern += text[at++];
  }
  return pattern;
}

/// What must match in the failure for it to be this one: regular expressions, the same in Python as here.
std::vector<std::string> ProofTexts(const CellRecord& cell, const ReportOptions& options) {
  const auto signature = options.signatures.find(cell.verdict.signature);
  if (signature != options.signatures.end() && !signature->second.proof.empty()) return signature->second.proof;
  std::vector<std::string> proof;
  if (!cell.exception) return proof;
  // A text that names a person or holds what cannot be shown is no proof: the script is made to be passed on.
  const auto add = [&](const std::string& text) {
    if (!text.empty() && text == Scrub(ReadableLine(text, 300), options.private_words)) proof.push_back(PatternOf(text));
  };
  add(FirstLine(cell.exception->chain.back().message.substr(0, 300)));
  if (!cell.exception->target.empty()) add("target: " + cell.exception->target);
  if (proof.empty()) add(cell.exception->chain.back().type.substr(cell.exception->chain.back().type.rfind('.') + 1));
  return proof;
}

/// The middle of the script: what is computed.
struct Body {
  std::string imports, tensors, step;
  std::vector<std::string> trainable;
  std::string gradient;  // of a loss that is no scalar
  bool backward = true;
};

bool IsSet(const Json& parameters, const char* key) {
  const auto it = parameters.find(key);
  return it != parameters.end() && !it->is_null() && *it != false;
}

std::string Tensor(const std::string& name, const std::string& value) { return "    \"" + name + "\": " + value + ",\n"; }
std::string Normal(const std::string& sizes, const std::string& dtype) { return "torch.randn(" + sizes + ", generator=make).to(\"cuda\", " + dtype + ")"; }

/// The fused linear cross entropy, as cases/flce_case.py builds it.
Body FlceBody(const Json& parameters, const Shape& shape) {
  const std::string dtype = DtypeLiteral(parameters, "dtype", "torch.bfloat16");
  const std::string weight_dtype = DtypeLiteral(parameters, "weight_dtype", dtype);
  const std::string bt = std::to_string(shape.bt), h = std::to_string(shape.h), v = std::to_string(shape.v);
  const Json given = parameters.contains("arguments") && parameters["arguments"].is_object() ? parameters["arguments"] : Json::object();
  std::vector<std::string> arguments;
  for (const auto& [name, value] : given.items())
    if (IsIdentifier(name)) arguments.push_back(name + "=" + PythonLiteral(value));
  arguments.push_back("accum_dtype=" + DtypeLiteral(parameters, "accum_dtype", "None"));

  Body body;
  std::string weight = "torch.randn(" + v + ", " + h + ", generator=make)";
  if (const auto it = parameters.find("weight_scale"); it != parameters.end() && it->is_number() && *it != 1) weight = "(" + weight + " * " + it->dump() + ")";
  body.tensors = Tensor("x", Normal(bt + ", " + h, dtype)) + Tensor("w", weight + ".to(\"cuda\", " + weight_dtype + ")") +
                 Tensor("target", "torch.randint(" + v + ", (" + bt + ",), generator=make).cuda()");
  body.trainable = {"x"};
  if (!IsSet(parameters, "frozen_weight")) body.trainable.push_back("w");
  std::string names = "x, w, target", extra;
  if (IsSet(parameters, "bias")) {
    body.tensors += Tensor("bias", Normal(v, weight_dtype));
    body.trainable.push_back("bias");
    names += ", bias";
    extra = ", bias";
  }
  if (IsSet(parameters, "class_weights")) {
    body.tensors += Tensor("class_weights", "torch.rand(" + v + ", generator=make).cuda() + 0.5");
    names += ", class_weights";
    extra += extra.empty() ? ", None, class_weights" : ", class_weights";
  }
  body.step = "def step(" + names + "):\n    return ";
  std::string call;
  if (IsSet(parameters, "through") && parameters["through"] == "module") {
    body.imports = "from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss\n";
    body.step = "module = LigerFusedLinearCrossEntropyLoss(" + Join(arguments, ", ") + ")\n\n" + body.step;
    call = "module(w, x, target" + std::string(IsSet(parameters, "bias") ? ", bias)" : ")");
  } else {
    body.imports = "from liger_kernel.transformers.functional import liger_fused_linear_cross_entropy as flce\n";
    call = "flce(x, w, target" + extra + ", " + Join(arguments, ", ") + ")" + (IsSet(given, "return_z_loss") ? ".loss" : "");
  }
  if (IsSet(parameters, "checkpoint")) {
    body.imports += "from torch.utils.checkpoint import checkpoint\n";
    call = "checkpoint(lambda: " + call + ", use_reentrant=False)";
  }
  body.step += call + "\n";
  if (IsSet(parameters, "disabled")) body.step = "@torch._dynamo.disable\n" + ReplaceAll(body.step, "def step(", "def inner(") + "\ndef step(" + names + "):\n    return inner(" + names + ")\n";
  if (IsSet(parameters, "ignore_fraction"))
    body.step = "tensors[\"target\"][torch.rand(" + bt + ", generator=make).cuda() < " + parameters["ignore_fraction"].dump() + "] = -100\n\n" + body.step;
  if (IsSet(parameters, "upstream")) body.gradient = "torch.linspace(0.25, 2.0, " + bt + ", device=\"cuda\")";
  return body;
}

/// The operators themselves, as cases/operator_case.py builds them.
Body OperatorBody(const Json& parameters, const Shape& shape) {
  const std::string op = parameters.contains("op") && parameters["op"].is_string() && IsIdentifier(parameters["op"].get<std::string>()) ? parameters["op"].get<std::string>() : "addmm";
  const std::string dtype = DtypeLiteral(parameters, "dtype", "torch.bfloat16");
  const std::string bt = std::to_string(shape.bt), h = std::to_string(shape.h), v = std::to_string(shape.v);
  const std::string batch = op == "bmm" || op == "baddbmm" ? "2, " : "";
  const bool adds = op == "addmm" || op == "baddbmm";
  Body body;
  body.tensors = Tensor("a", Normal(batch + v + ", " + bt, dtype)) + Tensor("b", Normal(batch + bt + ", " + h, dtype)) + Tensor("c", Normal(batch + v + ", " + h, "torch.float32"));
  body.step = "def step(a, b, c):\n    return torch." + op + "(" + (adds ? "c, " : "") + "a, b, out_dtype=torch.float32" + (IsSet(parameters, "out") ? ", out=c" : "") + ")\n";
  body.backward = false;
  return body;
}

bool HasFix(const CellRecord& cell) { return cell.fix != "none" && !cell.fix.empty(); }

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
  if (info == options.cases.end() || cell.verdict.outcome == Outcome::kSkipped) return "";
  const Json parameters = ParseOrEmpty(info->second.parameters_json), compile = ParseOrEmpty(info->second.compile_json);
  const Shape shape = cell.shape.value_or(info->second.shape);
  const bool is_operator = info->second.module == "operator_case";
  if (!is_operator && info->second.module != "flce_case") return "";
  const Body body = is_operator ? OperatorBody(parameters, shape) : FlceBody(parameters, shape);

  Json proof = Json::array();
  for (const std::string& text : ProofTexts(cell, options)) proof.push_back(text);
  Json trainable = Json::array();
  for (const std::string& name : body.trainable) trainable.push_back(name);
  const auto comment = [&](const std::string& text) { return "# " + Scrub(ReadableLine(text, 400), options.private_words) + "\n"; };

  const bool reproduced = cell.verdict.outcome == Outcome::kReproduced && !proof.empty();
  const std::string autocast = IsSet(parameters, "autocast") ? DtypeLiteral(parameters, "autocast", "None") : "";
  std::string out = comment("Repeats one cell of flce-repro: " + cell.case_name + ", " + CellWords(cell) + ".");
  out += comment("Made with Python " + cell.python + ", torch " + cell.torch + ", triton " + cell.triton + ", liger-kernel " + cell.liger + ".");
  out += comment("Needs an NVIDIA GPU" + std::string(cell.device_kind == DeviceKind::kEmulated ? " (compute capability " + cell.capability + " was emulated)" : "") +
                 (HasFix(cell) ? " and the fix '" + cell.fix + "'" : "") + ". Exit status: 0 reproduced, 1 not, 2 skipped.");
  out += std::string("import contextlib, io, logging, platform") + (reproduced ? ", re" : "") + "\n\nimport torch\n" + body.imports + "\n";
  if (reproduced) out += "PROOF = " + PythonLiteral(proof) + "  # all match in the failure\n";
  out += "logging.disable(logging.CRITICAL)\n";
  if (IsSet(compile, "capture_scalar_outputs")) out += "torch._dynamo.config.capture_scalar_outputs = True\n";
  if (compile.contains("dynamo_config") && compile["dynamo_config"].is_object())
    for (const auto& [name, value] : compile["dynamo_config"].items())
      if (IsIdentifier(name)) out += "torch._dynamo.config." + name + " = " + PythonLiteral(value) + "\n";
  out += "\n";
  if (reproduced)
    out +=
        "def text(error):  # with all that it hangs on, hidden or not\n"
        "    inner = getattr(error, \"inner_exception\", None) or error.__cause__ or error.__context__\n"
        "    return f\"{type(error).__name__}: {error}\\n\" + (text(inner) if inner else \"\")\n\n";
  out += "def end(status, words, error=None):\n    said = [f\"{type(error).__name__}: {error}\".splitlines()[0]] if error else []\n";
  if (reproduced) out += "    said += [line.strip() for line in text(error).splitlines() if re.search(PROOF[0], line)] if error else []\n";
  out += "    print(\"Result: \", \" — \".join([words, *said[-1:]]))\n    raise SystemExit(status)\n\n";
  out +=
      "print(\"OS:     \", platform.platform(), \"\\nPython: \", platform.python_version(), \"\\nPyTorch:\", torch.__version__)\n"
      "if not torch.cuda.is_available() or torch.version.hip:\n"
      "    end(2, \"SKIP — needs an NVIDIA GPU\")\n"
      "print(\"GPU:    \", torch.cuda.get_device_name(), torch.cuda.get_device_capability())\n\n";
  out += "make = torch.Generator().manual_seed(" + std::to_string(cell.seed.value_or(static_cast<int64_t>(info->second.seed))) + ")\ntensors = {\n" + body.tensors + "}\n\n";
  out += body.step + "\ndef run(function):\n    inputs = {name: t.clone().requires_grad_(name in " + PythonLiteral(trainable) + ") for name, t in tensors.items()}\n";
  out += autocast.empty() ? "    result = function(**inputs)\n" : "    with torch.autocast(\"cuda\", dtype=" + autocast + "):\n        result = function(**inputs)\n";
  if (body.backward) out += "    result.backward(" + body.gradient + ")\n";
  out += "    torch.cuda.synchronize()\n";
  if (!reproduced) out += body.backward ? "    return {name: t.grad for name, t in inputs.items() if t.requires_grad}\n" : "    return {\"result\": result}\n";
  out += "\n";
  const char* keep_eager = reproduced ? "" : "eager = ";
  const char* keep_compiled = reproduced ? "" : "compiled = ";
  out += std::string("try:\n    ") + keep_eager + "run(step)\n"
      "except Exception as error:\n"
      "    end(1, \"EAGER FAILED\", error)\n"
      "try:\n"
      "    with contextlib.redirect_stderr(io.StringIO()):\n"
      "        " + keep_compiled + "run(torch.compile(step" + CompileArguments(compile) + "))\n"
      "except Exception as error:\n";
  out += reproduced ? "    known = all(re.search(part, text(error)) for part in PROOF)\n"
                      "    end(0 if known else 1, \"REPRODUCED\" if known else \"UNEXPECTED\", error)\n"
                    : "    end(1, \"UNEXPECTED\", error)\n";
  if (!reproduced)
    out +=
        "for name, value in eager.items():\n"
        "    print(f\"{name}: largest difference from eager {(value.float() - compiled[name].float()).abs().max().item():g}\")\n";
  out += "end(1, \"NOT REPRODUCED\")\n";
  return out;
}

namespace {

std::string Quoted(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-=,:") == std::string::npos;
  return plain ? text : "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

/// The options that make a cell's environment.
std::string EnvironmentOptions(const CellRecord& cell) {
  std::string options = " --torch " + Quoted(PublicVersion(cell.torch)) + " --liger " + Quoted(cell.liger);
  if (HasFix(cell)) options += " --fix " + Quoted(cell.fix);
  return options + (cell.device_kind == DeviceKind::kEmulated ? " --device emulated --capability " + Quoted(cell.capability) : " --device cuda");
}

}  // namespace

std::string RepeatCommand(const CellRecord& cell) {
  return "scripts/flce-repro" + EnvironmentOptions(cell) + " --case " + Quoted(cell.case_name) + (cell.shape ? " --shape " + Text(*cell.shape) : "") +
         (cell.seed ? " --seed " + std::to_string(*cell.seed) : "");
}

std::string ReproductionCommand(const CellRecord& cell) { return "scripts/flce-repro exec" + EnvironmentOptions(cell) + " -- python repro.py"; }

}  // namespace flce
