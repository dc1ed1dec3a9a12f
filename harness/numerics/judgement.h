#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/numerics/claims.h"
#include "harness/numerics/compare.h"

namespace flce {

/// Distance of a tensor to the reference: the f64 one, or a run in f32 where that cannot be computed.
struct OracleError {
  double max_abs = 0;
  double rms = 0;
};

struct OracleErrors {
  OracleError eager;
  OracleError compiled;
  double unit = 0;  ///< distance of neighbours, in the dtype computed in, at the reference's largest magnitude
  bool f64 = true;  ///< false: the reference is a run in f32
};

/// A bound that was checked element by element.
struct BoundCheck {
  struct Element {
    std::vector<int64_t> index;
    double difference = 0;
    double bound = 0;
  };
  double largest = 0;          ///< the largest bound of any element
  uint64_t violations = 0;     ///< elements whose difference exceeds their bound
  std::vector<Element> first;  ///< the first of them, at most eight
  std::optional<Element>
      worst;  ///< the element that comes nearest to its bound or exceeds it most, if any differs
  /// Elements outside of what the inputs allow for the form that computed them, whatever the order of sums;
  /// only reported: a claim is about the difference.
  uint64_t eager_outside = 0;
  uint64_t compiled_outside = 0;
};

/// What was measured beside the comparison itself; a tensor without an entry was not measured.
struct Measures {
  std::map<std::string, OracleErrors> oracle;
  std::map<std::string, BoundCheck> bounds;
  std::string missing;  ///< why no bound was derived, "" if it was
};

struct TensorJudgement {
  TensorDiff diff;
  TensorClaim claim;
  std::optional<OracleErrors> oracle;
  std::optional<BoundCheck> bound;
};

/// The numerics verdict of one cell.
struct Judgement {
  std::vector<TensorJudgement> tensors;
  std::vector<std::string> violations;  ///< one line each; empty: every claim holds

  bool Holds() const { return violations.empty(); }
};

/// Holds the comparison of eager (a) with compiled (b) against the claim, every tensor that either returned. A
/// claim that cannot be checked, because a measure or one of `required` is missing, is violated: it was not
/// shown. Where no bound could be derived, the distance to the reference decides.
Judgement Judge(const FileComparison& comparison, const Claim& claim, const Measures& measures,
                double eager_error_factor, const std::vector<std::string>& required = {});

/// The report's `numerics` object: computed, loss, grad_x, grad_w, violations, and the details of each.
nlohmann::ordered_json ToJson(const Judgement& judgement);

}  // namespace flce
