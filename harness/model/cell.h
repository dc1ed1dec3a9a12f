#pragma once

#include <optional>
#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/model/names.h"

namespace flce {

/// Rows (tokens), hidden size and vocabulary of a case: x is [bt, h], weight [v, h], target [bt].
struct Shape {
  int64_t bt = 0, h = 0, v = 0;
  bool operator==(const Shape&) const = default;
};

/// "2048x1024x151936" -> {2048, 1024, 151936}; each at least 1.
Result<Shape> ParseShape(std::string_view text);
std::string Text(const Shape& shape);

/// What inputs are made from when nothing else is asked for.
constexpr int64_t kDefaultSeed = 1327;

/// Where a cell runs. `capability` is the compute capability "M.m"; for a real GPU it is what the GPU says.
struct DeviceSpec {
  DeviceKind kind = DeviceKind::kEmulated;
  std::string capability;
  std::string id;  ///< profile of cases/devices.json for an emulated device ("l4"); "" for a real one
  int count = 1;
};

/// One point of the matrix. Versions are exact ("2.13.0"), the fix a name or the path of a user's patch.
struct Cell {
  std::string case_name;
  std::string torch;
  std::string liger;
  std::string fix = "none";
  DeviceSpec device;
  std::optional<Shape> shape{};   ///< nullopt: the case's own
  std::optional<int64_t> seed{};  ///< of the inputs; nullopt: kDefaultSeed

  /// Stable across runs and machines: "flce-bf16-fp32-accum/torch-2.13.0/liger-0.8.5/none/emulated-9.0",
  /// with "/2048x1024x151936" appended when the shape is not the case's own, and "/seed-7" for another seed.
  std::string Id() const;
};

}  // namespace flce
