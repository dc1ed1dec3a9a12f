#include "harness/verdict/passed.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/model/failure.h"

namespace flce {
namespace {

constexpr size_t kMostBreaks = 3;

bool Contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Why this torch or this Liger cannot have the failure; "" if it can.
std::string WhyNotAffected(const CaseFacts::Call& call, const Observation& o) {
  if (call.op.empty()) return "The case makes no call that is known to fail; it compiled and ran";
  const auto has = [&](const std::string& overload) { return Contains(o.overloads, overload); };
  if (!call.overloads.empty() && std::none_of(call.overloads.begin(), call.overloads.end(), has))
    return "torch " + o.torch + " has no overload of " + call.op + " with out_dtype";
  if (!call.module.empty() && !o.call_present)
    return "Liger " + o.liger + " makes no such call in " + call.module;
  return "";
}

bool IsCall(const CaseFacts::Call& call, const ProbeCall& seen) {
  const auto is_overload = [&](const std::string& overload) { return seen.op == "aten." + call.op + "." + overload; };
  if (std::none_of(call.overloads.begin(), call.overloads.end(), is_overload)) return false;
  return call.module.empty() || SameFile(seen.site.file, call.module);
}

/// A product of half operands with the accumulator in question.
bool IsFastGemm(const CaseFacts::Call& call, const GemmCall& gemm) {
  return Contains(call.operands, gemm.a) && Contains(call.operands, gemm.b) && gemm.c == call.accumulator;
}

/// Why the call did not run in eager though it is there; "" if it did.
std::string WhyNotExercised(const CaseFacts::Call& call, const Observation& o) {
  if (o.probe_ran) {
    const auto seen = std::find_if(o.probe_calls.begin(), o.probe_calls.end(), [&](const ProbeCall& p) { return IsCall(call, p); });
    if (seen == o.probe_calls.end())
      return "Eager never reached " + call.op + "(out_dtype=...): capability " + o.capability +
             ", a frozen weight, or operands and accumulator of other types";
  }
  const bool typed = !call.operands.empty() && !call.accumulator.empty();
  if (typed && o.eager.launches && o.eager.launches->gemm_count == static_cast<int64_t>(o.eager.launches->gemms.size())) {
    const auto is_fast = [&](const GemmCall& gemm) { return IsFastGemm(call, gemm); };
    if (std::none_of(o.eager.launches->gemms.begin(), o.eager.launches->gemms.end(), is_fast))
      return "The launch log of eager shows no product of " + Join(call.operands, "/") + " operands accumulated in " + call.accumulator;
    return "";
  }
  return o.probe_ran ? "" : "Nothing shows that eager reached " + call.op + "(out_dtype=...): it was not watched";
}

bool IsSet(const Observation& o, const char* variable) {
  const auto it = o.environment.find(variable);
  return it != o.environment.end() && !it->second.empty() && it->second != "0";
}

/// A break that keeps what stands there out of the graph: asked for, or an operator that failed to trace. Others (a
/// scalar read, say) only end one graph and begin the next.
bool KeepsOut(const std::string& reason) {
  const std::string text = ToLower(reason);
  for (const char* word : {"compiler.disable", "_dynamo.disable", "graph_break()", "_dynamo.skip", "when making fake tensor call"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

/// True if a captured graph holds the call itself.
bool IsCaptured(const CaseFacts::Call& call, const GraphRecord& graphs) {
  // "addmm(out_dtype)" of torch.addmm, "aten.addmm.dtype(out_dtype)" of the overload; mm is in the name of addmm and bmm.
  return std::any_of(graphs.ops.begin(), graphs.ops.end(), [&](const auto& op) {
    return op.first == call.op + "(out_dtype)" || op.first.rfind("aten." + call.op + ".dtype", 0) == 0;
  });
}

/// An operator of a library of its own, opaque to the compiler: a fix may make the call inside of one.
bool HasCustomOperator(const GraphRecord& graphs) {
  return std::any_of(graphs.ops.begin(), graphs.ops.end(), [](const auto& op) {
    const size_t dot = op.first.find_first_of(".:");
    const std::string library = dot == std::string::npos ? "" : op.first.substr(0, dot);
    return !library.empty() && library != "aten" && library != "prims" && library != "torch" && library != "higher_order";
  });
}

/// " (the graph is broken at SITE: REASON; ...)": the places where Dynamo gave up, each once; "" if there is none.
std::string BrokenAt(const GraphRecord& graphs) {
  std::vector<std::string> places;
  for (const auto& [reason, site] : graphs.breaks) {
    const std::string place = (site.empty() ? "an unknown place" : site) + ": " + FirstLine(reason);
    if (!Contains(places, place)) places.push_back(place);
  }
  if (places.empty()) return "";
  const size_t more = places.size() > kMostBreaks ? places.size() - kMostBreaks : 0;
  places.resize(places.size() - more);
  return " (the graph is broken at " + Join(places, "; at ") + (more > 0 ? "; and at " + std::to_string(more) + " more" : "") + ")";
}

/// Why the passing run was no compiled one; "" if it was.
std::string WhyNotCompiled(const CaseFacts::Call& call, const Observation& o) {
  const GraphRecord& graphs = o.compiled.graphs;
  if (graphs.disabled || IsSet(o, "TORCHDYNAMO_DISABLE") || IsSet(o, "TORCH_COMPILE_DISABLE")) return "torch.compile is switched off";
  if (graphs.suppressed > 0)
    return "Dynamo gave " + std::to_string(graphs.suppressed) + " failing frame(s) up and ran them eagerly (suppress_errors)";
  const std::string broken_at = BrokenAt(graphs);
  if (graphs.captured == 0) return "No graph was captured: the compiled run was an eager one" + broken_at;
  if (graphs.compiled == 0) return "No captured graph was compiled";
  if (IsCaptured(call, graphs)) return "";
  // An operator case has no other way than the call.
  if (call.module.empty()) return "The call is in no captured graph" + broken_at;
  const std::string& source = call.module;
  const bool from_source = std::any_of(graphs.nodes_from.begin(), graphs.nodes_from.end(),
                                       [&](const auto& item) { return item.second > 0 && SameFile(item.first, source); });
  if (!from_source) return "No captured graph holds anything of " + call.module + broken_at;
  // The product was launched though no graph holds it: the code that makes it (a backward pass, say) ran eagerly.
  if (o.compiled.launches && !HasCustomOperator(graphs)) {
    const std::vector<GemmCall>& gemms = o.compiled.launches->gemms;
    if (std::any_of(gemms.begin(), gemms.end(), [&](const GemmCall& gemm) { return IsFastGemm(call, gemm); }))
      return "The compiled run launched the call's product, but no captured graph holds the call: it ran outside of the graphs" + broken_at;
  }
  // A real GPU tells no launches. A fix leaves another branch, or an operator of its own, in the call's place.
  if (graphs.branch_nodes == 0 && !HasCustomOperator(graphs))
    return "No captured graph holds the call, nor anything that " + call.module + " does in its place: it ran outside of the graphs" + broken_at;
  const auto broken = std::find_if(graphs.breaks.begin(), graphs.breaks.end(), [](const auto& b) { return KeepsOut(b.first); });
  if (broken != graphs.breaks.end() && SameFile(broken->second.substr(0, broken->second.rfind(':')), source))
    return "The call is in no captured graph" + broken_at;
  return "";
}

constexpr size_t kChangesNamed = 3;

}  // namespace

std::string WhyFixHadNoEffect(const Observation& o) {
  if (!o.fix || !o.fix->watched) return "";
  const std::vector<FixChange>& changes = o.fix->changes;
  if (changes.empty()) return "it changes no code, only comments or layout";
  if (std::any_of(changes.begin(), changes.end(), [](const FixChange& change) { return change.ran.value_or(true); })) return "";
  std::vector<std::string> names;
  for (const FixChange& change : changes) {
    if (names.size() == kChangesNamed) break;
    names.push_back((change.name == "<module>" ? "" : change.name + " of ") + change.file);
  }
  const size_t more = changes.size() - names.size();
  return "it changes " + Join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
         (changes.size() == 1 ? ", which never ran" : ", and none of that ever ran");
}

void DecidePassed(const CaseFacts::Call& call, const Observation& o, const NumericsRecord* numerics, Verdict& verdict) {
  const auto set = [&verdict](Outcome outcome, Reason reason, std::string explanation) {
    verdict.outcome = outcome;
    verdict.reason = reason;
    verdict.explanation = std::move(explanation);
  };
  if (numerics != nullptr && numerics->computed && !numerics->violations.empty()) {
    verdict.stage = Stage::kNumerics;
    const size_t more = numerics->violations.size() - 1;
    return set(Outcome::kNumericsMismatch, Reason::kNone,
               "Compiled and ran, but " + numerics->violations.front() + (more > 0 ? " (and " + std::to_string(more) + " more)" : "") + ".");
  }
  if (const std::string why = WhyNotAffected(call, o); !why.empty())
    return set(Outcome::kNotReproduced, Reason::kNotAffected, why + ".");
  if (const std::string why = WhyNotExercised(call, o); !why.empty())
    return set(Outcome::kNotReproduced, Reason::kNotExercised, why + ".");
  if (const std::string why = WhyNotCompiled(call, o); !why.empty())
    return set(Outcome::kNotReproduced, Reason::kNotCompiled, why + ".");
  const std::string source = call.module.empty() ? "the case" : call.module;
  set(Outcome::kNotReproduced, Reason::kFixed,
      "Eager reached the call, " + source + " was compiled" +
          (IsCaptured(call, o.compiled.graphs) ? " with the call in the graph" : ", by another way than the call") + ", and nothing failed.");
}

}  // namespace flce
