#pragma once

#include <string>

#include "harness/model/run_record.h"

/// The cells that the sample runs are made of.
namespace flce::testing {

struct TorchRow {
  const char* torch;
  const char* cuda;
  const char* triton;
  int tier;  // 0: not affected
};
constexpr TorchRow kTorches[] = {{"2.7.1+cu126", "12.6", "3.3.1", 0},  {"2.8.0+cu128", "12.8", "3.4.0", 1},
                                 {"2.9.1+cu128", "12.8", "3.5.1", 1},  {"2.10.0+cu128", "12.8", "3.6.0", 1},
                                 {"2.11.0+cu130", "13.0", "3.6.0", 1}, {"2.12.1+cu130", "13.0", "3.7.0", 1},
                                 {"2.13.0+cu130", "13.0", "3.7.1", 2}, {"2.14.1+cu130", "13.0", "3.8.0", 2},
                                 {"2.15.0+cu132", "13.2", "3.9.0", 2}};
constexpr const char* kSampleCase = "flce-bf16-fp32-accum";
constexpr const char* kLigerFile = "liger_kernel/ops/fused_linear_cross_entropy.py";

CellRecord BaseCell(const TorchRow& row, const std::string& liger, const std::string& fix, const std::string& capability);
/// What the cell of the matrix gives: a tier, not affected, not exercised, fixed.
CellRecord MatrixCell(const TorchRow& row, const std::string& liger, const std::string& fix, const std::string& capability);
/// The large shape with a fix: memory, and on a real GPU numbers.
CellRecord FixCell(const TorchRow& row, const std::string& fix, uint64_t peak, bool executed);
void MakeTier(CellRecord& cell, int tier, bool newer);

}  // namespace flce::testing
