#include "harness/numerics/judgement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

Json NumberJson(double value) {
  return std::isfinite(value) ? Json(value) : Json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

// Where and how much, for the first element that breaks a claim of equal bits.
std::string Located(const TensorDiff& diff) {
  const ElementStats& stats = diff.stats;
  const ElementDifference& first = stats.first.front();
  std::string text = std::to_string(stats.mismatches) + " of " + std::to_string(stats.elements) +
                     " elements differ, first at " + ShapeText(Coordinates(first.index, diff.shape)) + " (" +
                     Number(first.a) + " against " + Number(first.b) + ")";
  if (stats.max_abs > 0) text += ", max abs " + Number(stats.max_abs);
  return text;
}

std::string Located(const BoundCheck& bound) {
  const BoundCheck::Element& first = bound.first.front();
  return std::to_string(bound.violations) + " elements differ by more than their bound, first at " +
         ShapeText(first.index) + " by " + Number(first.difference) + " where " + Number(first.bound) +
         " can be rounding";
}

void CheckFinite(const TensorDiff& diff, std::vector<std::string>* violations) {
  const ElementStats& stats = diff.stats;
  const auto first_special =
      std::find_if(stats.first.begin(), stats.first.end(), [](const ElementDifference& difference) {
        return !std::isfinite(difference.a) || !std::isfinite(difference.b);
      });
  const std::string where =
      first_special == stats.first.end()
          ? ""
          : ", first seen at " + ShapeText(Coordinates(first_special->index, diff.shape));
  if (stats.nan_mismatches != 0) {
    violations->push_back(diff.name + ": " + std::to_string(stats.nan_mismatches) + " NaN on one side only" +
                          where);
  }
  if (stats.inf_mismatches != 0) {
    violations->push_back(diff.name + ": " + std::to_string(stats.inf_mismatches) +
                          " infinities on one side only" + where);
  }
}

void CheckClaim(const TensorJudgement& tensor, const std::string& missing,
                std::vector<std::string>* violations) {
  const TensorDiff& diff = tensor.diff;
  if (diff.Bitwise()) return;
  if (tensor.claim.kind == ClaimKind::kBitwise) {
    violations->push_back(diff.name + ": claimed bitwise equal, but " + Located(diff));
    return;
  }
  CheckFinite(diff, violations);
  if (!tensor.bound) {
    if (tensor.oracle) return;  // which CheckOracle looks at
    violations->push_back(diff.name + ": " + ClaimName(tensor.claim.kind) + " is claimed and " +
                          Located(diff) + ", but no bound could be derived" +
                          (missing.empty() ? "" : ": " + missing) + ", and there is no run in f32 to judge by");
  } else if (tensor.bound->violations != 0) {
    violations->push_back(diff.name + ": " + Located(*tensor.bound));
  }
}

void CheckOracle(const TensorJudgement& tensor, double factor, std::vector<std::string>* violations) {
  if (!tensor.oracle) return;
  const OracleErrors& errors = *tensor.oracle;
  const auto check = [&](const char* what, double eager, double compiled) {
    // No result can be asked to lie closer to the reference than its own dtype resolves. The comparison is
    // written so that a NaN fails it.
    const double allowed = factor * std::max(eager, errors.unit);
    if (std::isnan(eager) && std::isnan(compiled)) return;
    if (!(compiled <= allowed)) {
      violations->push_back(tensor.diff.name + ": its " + what + " error to " + (errors.f64 ? "f64" : "a run in f32") +
                            " is " + Number(compiled) +
                            ", eager's is " + Number(eager) + "; at most " + Number(allowed) + " is allowed");
    }
  };
  check("largest", errors.eager.max_abs, errors.compiled.max_abs);
  check("root mean square", errors.eager.rms, errors.compiled.rms);
}

Json ErrorJson(const OracleError& error) {
  return {{"max_abs", NumberJson(error.max_abs)}, {"rms", NumberJson(error.rms)}};
}

Json ElementJson(const BoundCheck::Element& element) {
  return {{"index", element.index},
          {"difference", NumberJson(element.difference)},
          {"bound", NumberJson(element.bound)}};
}

Json HistogramJson(const ElementStats& stats) {
  Json histogram = Json::object();
  for (size_t i = 0; i < stats.histogram.size(); ++i) {
    if (stats.histogram[i] == 0) continue;
    const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
    const uint64_t to = i == 0 ? 0 : i == 64 ? UINT64_MAX : (uint64_t{1} << i) - 1;
    histogram[from == to ? std::to_string(from) : std::to_string(from) + "-" + std::to_string(to)] =
        stats.histogram[i];
  }
  return histogram;
}

Json TensorJson(const TensorJudgement& tensor) {
  const TensorDiff& diff = tensor.diff;
  const ElementStats& stats = diff.stats;
  Json json = {{"bitwise", diff.Bitwise()},
               {"elements", stats.elements},
               {"mismatches", stats.mismatches},
               {"max_abs", stats.max_abs},
               {"max_ulp", stats.max_ulp}};
  if (tensor.bound) {
    json["bound"] = NumberJson(tensor.bound->largest);
    json["within_bound"] =
        tensor.bound->violations == 0 && stats.nan_mismatches == 0 && stats.inf_mismatches == 0;
  }
  json["ulp_histogram"] = HistogramJson(stats);
  if (!stats.first.empty())
    json["first_mismatch"] = ShapeText(Coordinates(stats.first.front().index, diff.shape));
  json["claim"] = {{"claim", ClaimName(tensor.claim.kind)}, {"why", tensor.claim.why}};
  json["comparison"] = ToJson(diff);
  if (tensor.bound) {
    Json first = Json::array();
    for (const BoundCheck::Element& element : tensor.bound->first) first.push_back(ElementJson(element));
    json["bound_check"] = {{"violations", tensor.bound->violations},
                           {"first", std::move(first)},
                           {"worst", tensor.bound->worst ? ElementJson(*tensor.bound->worst) : Json(nullptr)},
                           {"eager_outside", tensor.bound->eager_outside},
                           {"compiled_outside", tensor.bound->compiled_outside}};
  }
  if (tensor.oracle) {
    json[tensor.oracle->f64 ? "fp64" : "fp32_run"] = {{"eager", ErrorJson(tensor.oracle->eager)},
                    {"compiled", ErrorJson(tensor.oracle->compiled)},
                    {"unit", NumberJson(tensor.oracle->unit)}};
  }
  return json;
}

}  // namespace

Judgement Judge(const FileComparison& comparison, const Claim& claim, const Measures& measures,
                double eager_error_factor, const std::vector<std::string>& required) {
  Judgement judgement;
  if (comparison.tensors.empty()) judgement.violations.push_back("neither run returned a tensor");
  for (const std::string& name : required) {
    if (std::none_of(comparison.tensors.begin(), comparison.tensors.end(),
                     [&](const TensorDiff& diff) { return diff.name == name; })) {
      judgement.violations.push_back(name + ": neither run returned it");
    }
  }
  for (const TensorDiff& diff : comparison.tensors) {
    const std::string& name = diff.name;
    TensorJudgement tensor{diff, claim.For(name), {}, {}};
    if (diff.pairing != Pairing::kComparable) {
      judgement.violations.push_back(name + ": cannot be compared: " + diff.detail);
      continue;
    }
    if (const auto at = measures.oracle.find(name); at != measures.oracle.end()) tensor.oracle = at->second;
    if (const auto at = measures.bounds.find(name); at != measures.bounds.end()) tensor.bound = at->second;
    CheckClaim(tensor, measures.missing, &judgement.violations);
    CheckOracle(tensor, eager_error_factor, &judgement.violations);
    judgement.tensors.push_back(std::move(tensor));
  }
  return judgement;
}

Json ToJson(const Judgement& judgement) {
  Json json = {{"computed", true}};
  for (const TensorJudgement& tensor : judgement.tensors) json[tensor.diff.name] = TensorJson(tensor);
  json["violations"] = judgement.violations;
  return json;
}

}  // namespace flce
