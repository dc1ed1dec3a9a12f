// Implementation details: JSON has no NaN and no infinity, so such values are written as the strings "nan",
// "inf", "-inf".
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/numerics/compare.h"

namespace flce {
namespace {

using Json = nlohmann::ordered_json;

std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

Json NumberJson(double value) { return std::isfinite(value) ? Json(value) : Json(NumberText(value)); }

std::string IndexText(uint64_t index, const std::vector<int64_t>& shape) {
  return ShapeText(Coordinates(index, shape));
}

Json HistogramJson(const ElementStats& stats) {
  Json rows = Json::array();
  for (size_t i = 0; i < stats.histogram.size(); ++i) {
    if (stats.histogram[i] == 0) continue;
    const uint64_t from = i == 0 ? 0 : uint64_t{1} << (i - 1);
    const uint64_t to = i == 0 ? 0 : i == 64 ? UINT64_MAX : (uint64_t{1} << i) - 1;
    rows.push_back({{"from", from}, {"to", to}, {"count", stats.histogram[i]}});
  }
  return rows;
}

Json DifferencesJson(const TensorDiff& comparison) {
  Json rows = Json::array();
  for (const ElementDifference& difference : comparison.stats.first) {
    Json row = {{"index", Coordinates(difference.index, comparison.shape)},
                {"a", NumberJson(difference.a)},
                {"b", NumberJson(difference.b)}};
    if (HasUlps(comparison.dtype)) row["ulps"] = difference.ulps;
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* PairingName(Pairing pairing) {
  switch (pairing) {
    case Pairing::kComparable:
      return "compared";
    case Pairing::kOnlyInA:
      return "only_in_a";
    case Pairing::kOnlyInB:
      return "only_in_b";
    case Pairing::kDTypesDiffer:
      return "dtypes_differ";
    case Pairing::kShapesDiffer:
      return "shapes_differ";
  }
  return "";
}

std::string Line(const TensorDiff& tensor, bool admitted) {
  const ElementStats& stats = tensor.stats;
  std::string line =
      tensor.name + " " + std::string(DTypeName(tensor.dtype)) + ShapeText(tensor.shape) + ": ";
  if (tensor.pairing != Pairing::kComparable) return line + tensor.detail + "\n";
  if (tensor.Bitwise()) {
    line += "bitwise equal";
    if (stats.nan_a != 0) line += ", " + std::to_string(stats.nan_a) + " NaN on both sides";
    return line + "\n";
  }
  line += std::to_string(stats.mismatches) + " of " + std::to_string(stats.elements) + " differ";
  if (stats.max_abs > 0) {
    line += ", max abs " + NumberText(stats.max_abs) + " at " + IndexText(stats.max_abs_index, tensor.shape);
  }
  if (stats.max_ulp > 0) {
    line +=
        ", max " + std::to_string(stats.max_ulp) + " ULP at " + IndexText(stats.max_ulp_index, tensor.shape);
  }
  if (stats.nan_mismatches != 0) line += ", " + std::to_string(stats.nan_mismatches) + " NaN on one side";
  if (stats.inf_mismatches != 0)
    line += ", " + std::to_string(stats.inf_mismatches) + " infinite on one side";
  if (stats.signed_zeros != 0) line += ", " + std::to_string(stats.signed_zeros) + " zeros of opposite sign";
  line += admitted ? " (within the claim)\n" : "\n";
  for (const ElementDifference& difference : stats.first) {
    line += "  " + IndexText(difference.index, tensor.shape) + ": " + NumberText(difference.a) + " against " +
            NumberText(difference.b) + "\n";
  }
  return line;
}

}  // namespace

Json ToJson(const TensorDiff& comparison) {
  const ElementStats& stats = comparison.stats;
  Json json = {{"name", comparison.name},
               {"pairing", PairingName(comparison.pairing)},
               {"dtype", DTypeName(comparison.dtype)},
               {"shape", comparison.shape},
               {"bitwise", comparison.Bitwise()}};
  if (comparison.pairing != Pairing::kComparable) {
    json["detail"] = comparison.detail;
    return json;
  }
  json["elements"] = stats.elements;
  json["mismatches"] = stats.mismatches;
  json["max_abs"] = stats.max_abs;
  json["max_abs_index"] =
      stats.max_abs > 0 ? Json(Coordinates(stats.max_abs_index, comparison.shape)) : Json(nullptr);
  json["max_ulp"] = HasUlps(comparison.dtype) ? Json(stats.max_ulp) : Json(nullptr);
  json["max_ulp_index"] =
      stats.max_ulp > 0 ? Json(Coordinates(stats.max_ulp_index, comparison.shape)) : Json(nullptr);
  json["nan"] = {{"a", stats.nan_a}, {"b", stats.nan_b}, {"mismatches", stats.nan_mismatches}};
  json["inf"] = {{"a", stats.inf_a}, {"b", stats.inf_b}, {"mismatches", stats.inf_mismatches}};
  json["signed_zeros"] = stats.signed_zeros;
  json["first"] = DifferencesJson(comparison);
  json["ulp_histogram"] = HistogramJson(stats);
  return json;
}

Json ToJson(const FileComparison& comparison) {
  Json tensors = Json::array();
  for (const TensorDiff& tensor : comparison.tensors) {
    Json row = ToJson(tensor);
    row["within_claim"] = comparison.allowance.Admits(tensor);
    tensors.push_back(std::move(row));
  }
  const Allowance& allowance = comparison.allowance;
  return {{"format", 1},
          {"a", comparison.a},
          {"b", comparison.b},
          {"holds", comparison.Holds()},
          {"claim",
           {{"max_ulp", allowance.max_ulp ? Json(*allowance.max_ulp) : Json(nullptr)},
            {"max_abs", allowance.max_abs ? Json(*allowance.max_abs) : Json(nullptr)}}},
          {"tensors", std::move(tensors)}};
}

std::string ToText(const FileComparison& comparison) {
  std::string text;
  for (const TensorDiff& tensor : comparison.tensors)
    text += Line(tensor, comparison.allowance.Admits(tensor));
  return text;
}

}  // namespace flce
