#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/result.h"
#include "harness/base/version.h"

namespace flce {

/// What a fix promises for one tensor of the compiled run, against eager.
enum class ClaimKind {
  kBitwise,        ///< the same bits
  kChunkRounding,  ///< grad_w: each element within the bound that rounding every chunk's product once implies
  kSummation,      ///< loss: within what two orders of one f32 sum can differ by
  kReference,      ///< no further from a run in f32 than a multiple of eager's own distance; the weakest
};

struct TensorClaim {
  ClaimKind kind = ClaimKind::kBitwise;
  std::string why;
};

struct Claim {
  std::string fix;                             ///< a fix's name, or "*" for a fix that nobody described
  VersionRange liger;                          ///< the releases it is made for
  std::map<std::string, TensorClaim> tensors;  ///< "loss", "grad_x", "grad_w", and "*" for all others

  const TensorClaim& For(const std::string& tensor) const;
};

/// cases/tolerances.json.
struct Tolerances {
  /// The compiled run's error to f64 may be this many times the eager run's; a unit of the tensor's dtype
  /// counts as no error.
  double eager_error_factor = 0;
  /// The compiled run's peak above the inputs, times the eager run's.
  double memory_ratio = 0;
  /// What holds for grad_w, whatever the fix, where it is not accumulated in fp32.
  TensorClaim no_fp32_accumulator;
  /// What holds for every tensor, whatever the fix, of a case that sets the parameter.
  std::map<std::string, TensorClaim> parameters;
  std::vector<Claim> claims;

  /// kIo, kNotFound or kData (with the place in the file).
  static Result<Tolerances> Load(const fs::path& path);
  /// The first claim for the fix and release, else the first one for "*"; kUsage if neither exists.
  Result<const Claim*> For(const std::string& fix, const Version& liger) const;
};

/// "bitwise", "chunk_rounding", "summation"
std::string ClaimName(ClaimKind kind);

}  // namespace flce
