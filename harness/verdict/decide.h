#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/model/failure.h"
#include "harness/model/observation.h"
#include "harness/model/run_record.h"
#include "harness/model/verdict.h"

namespace flce {

/// What a case says about itself, as far as it decides a verdict. From cases/NAME.json: name, "call" and "reproduces" (optional).
struct CaseFacts {
  std::string name;
  /// The call in question; `op` is empty for a case without one (a control).
  struct Call {
    std::string op;                      ///< "addmm"
    std::vector<std::string> overloads;  ///< "dtype_out", "dtype": any of them is the call
    std::string module;                  ///< source file that makes it; "" when the case itself does
    std::vector<std::string> operands;   ///< dtypes of its operands: "bf16", "f16"
    std::string accumulator;             ///< dtype of its result: "f32"
  } call;
  /// Ids of signatures that are this case's own besides those that name `call.op` among their operators.
  std::vector<std::string> reproduces;
};

/// What one observation means. Pure. `readings` is ReadFailures() of the same observation; `numerics` may be null (not
/// computed); `memory_budget` is how many times the eager peak the compiled peak may be, if that is limited.
///
/// A failure outranks everything that a passing run would be asked. A run that passed is `fixed` only if the call was
/// reached in eager, and the code that makes it was compiled.
Verdict Decide(const CaseFacts& facts, const Observation& observation, const Readings& readings,
               const NumericsRecord* numerics, std::optional<double> memory_budget);

}  // namespace flce
