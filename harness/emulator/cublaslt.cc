// cuBLASLt: descriptors and the matrix product of torch's fused and 8-bit paths.
#include <cstring>
#include <map>
#include <string>

#include "harness/emulator/api.h"
#include "harness/emulator/cublas.h"
#include "harness/emulator/gemm.h"

using flce::emulator::BlasHandle;
using flce::emulator::FindBlasHandle;
using flce::emulator::GemmRecord;
using flce::emulator::RefuseBlas;
using flce::emulator::Session;
namespace blas = flce::emulator::blas;
namespace types = flce::emulator::types;

namespace {

// The opaque descriptors are ours to lay out: programs create and destroy them through the library.
struct MatmulDesc {
  int compute;
  int scale_type;
  int transa = 0;
  int transb = 0;
  int epilogue = 1;
  int pointer_mode = 0;
};

struct MatrixLayout {
  int type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  int batch = 1;
  int order = 0;
};

struct Preference {
  std::uint64_t workspace = 0;
};

struct Algorithm {
  std::uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_size;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

constexpr std::uint64_t kAlgorithmMark = 0x666c6365;  // in the first word: made by the heuristic here

template <typename T>
int Assign(T& field, const void* data, std::size_t size) {
  if (data == nullptr || size < sizeof field) return blas::kInvalidValue;
  std::memcpy(&field, data, sizeof field);
  return blas::kSuccess;
}

const char* EpilogueName(int epilogue) {
  switch (epilogue) {
    case 1:
      return "";
    case 2:
      return "relu";
    case 130:
      return "relu_aux";
    case 4:
      return "bias";
    case 6:
      return "relu_bias";
    case 134:
      return "relu_aux_bias";
    case 136:
      return "drelu";
    case 152:
      return "drelu_bgrad";
    case 32:
      return "gelu";
    case 160:
      return "gelu_aux";
    case 36:
      return "gelu_bias";
    case 164:
      return "gelu_aux_bias";
    case 192:
      return "dgelu";
    case 208:
      return "dgelu_bgrad";
    case 256:
      return "bgrada";
    case 512:
      return "bgradb";
    default:
      return nullptr;
  }
}

// Fills `record` with what the descriptors say; the shapes must fit and the types be supported.
int Describe(const MatmulDesc* desc, const MatrixLayout* a, const MatrixLayout* b, const MatrixLayout* c,
             const MatrixLayout* d, GemmRecord& record) {
  if (desc == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) return blas::kInvalidValue;
  constexpr char kOperations[] = {'n', 't', 'c'};
  if (desc->transa < 0 || desc->transa > 2 || desc->transb < 0 || desc->transb > 2) return blas::kInvalidValue;
  const char* epilogue = EpilogueName(desc->epilogue);
  if (epilogue == nullptr) return RefuseBlas("cublasLtMatmul", "epilogue " + std::to_string(desc->epilogue));
  for (const MatrixLayout* layout : {a, b, c, d}) {
    constexpr int kRowMajor = 1;
    if (layout->order != 0 && layout->order != kRowMajor) {
      return RefuseBlas("cublasLtMatmul", "order " + std::to_string(layout->order));
    }
  }
  record.m = static_cast<std::int64_t>(desc->transa == 0 ? a->rows : a->columns);
  record.k = static_cast<std::int64_t>(desc->transa == 0 ? a->columns : a->rows);
  record.n = static_cast<std::int64_t>(desc->transb == 0 ? b->columns : b->rows);
  const std::int64_t inner = static_cast<std::int64_t>(desc->transb == 0 ? b->rows : b->columns);
  const auto is_result = [&](const MatrixLayout& layout) {
    return static_cast<std::int64_t>(layout.rows) == record.m && static_cast<std::int64_t>(layout.columns) == record.n;
  };
  if (inner != record.k || !is_result(*c) || !is_result(*d)) return blas::kInvalidValue;
  int capability = 0;
  {
    Session session;
    capability = session->profile.capability();
  }
  if (!flce::emulator::LtTypesSupported(a->type, b->type, c->type, d->type, desc->compute, capability)) {
    return blas::kNotSupported;
  }
  record.api = "cublasLtMatmul";
  record.transa = kOperations[desc->transa];
  record.transb = kOperations[desc->transb];
  record.batch = d->batch;
  record.a = flce::emulator::TypeName(a->type);
  record.b = flce::emulator::TypeName(b->type);
  record.c = flce::emulator::TypeName(c->type);
  record.d = flce::emulator::TypeName(d->type);
  record.compute = flce::emulator::ComputeName(desc->compute);
  record.epilogue = epilogue;
  return blas::kSuccess;
}

}  // namespace

FLCE_API std::size_t cublasLtGetVersion() { return 120800; }

FLCE_API int cublasLtMatmulDescCreate(MatmulDesc** desc, int compute, int scale_type) {
  if (desc == nullptr) return blas::kInvalidValue;
  *desc = new MatmulDesc{compute, scale_type};
  return blas::kSuccess;
}

FLCE_API int cublasLtMatmulDescDestroy(MatmulDesc* desc) {
  delete desc;
  return blas::kSuccess;
}

FLCE_API int cublasLtMatmulDescSetAttribute(MatmulDesc* desc, int attribute, const void* data, std::size_t size) {
  if (desc == nullptr) return blas::kInvalidValue;
  switch (attribute) {
    case 0:
      return Assign(desc->compute, data, size);
    case 1:
      return Assign(desc->scale_type, data, size);
    case 2:
      return Assign(desc->pointer_mode, data, size);
    case 3:
      return Assign(desc->transa, data, size);
    case 4:
      return Assign(desc->transb, data, size);
    case 7:
      return Assign(desc->epilogue, data, size);
    case 8:   // bias pointer
    case 10:  // bias batch stride
    case 11:  // auxiliary pointer, leading dimension, batch stride
    case 12:
    case 13:
    case 15:  // number of SMs to use
    case 17:  // scale pointers
    case 18:
    case 19:
    case 20:
    case 21:  // largest absolute value
    case 22:  // auxiliary type
    case 25:  // fast accumulation
    case 26:  // bias type
    case 31:  // scale modes
    case 32:
    case 33:
    case 34:
      return data == nullptr ? blas::kInvalidValue : blas::kSuccess;
    default:
      return RefuseBlas("cublasLtMatmulDescSetAttribute", std::to_string(attribute));
  }
}

FLCE_API int cublasLtMatrixLayoutCreate(MatrixLayout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                                        std::int64_t leading) {
  if (layout == nullptr) return blas::kInvalidValue;
  *layout = new MatrixLayout{type, rows, columns, leading};
  return blas::kSuccess;
}

FLCE_API int cublasLtMatrixLayoutDestroy(MatrixLayout* layout) {
  delete layout;
  return blas::kSuccess;
}

FLCE_API int cublasLtMatrixLayoutSetAttribute(MatrixLayout* layout, int attribute, const void* data,
                                              std::size_t size) {
  if (layout == nullptr) return blas::kInvalidValue;
  switch (attribute) {
    case 0:
      return Assign(layout->type, data, size);
    case 1:
      return Assign(layout->order, data, size);
    case 2:
      return Assign(layout->rows, data, size);
    case 3:
      return Assign(layout->columns, data, size);
    case 4:
      return Assign(layout->leading, data, size);
    case 5:
      return Assign(layout->batch, data, size);
    case 6:  // stride between the matrices of a batch
      return data == nullptr ? blas::kInvalidValue : blas::kSuccess;
    default:
      return RefuseBlas("cublasLtMatrixLayoutSetAttribute", std::to_string(attribute));
  }
}

FLCE_API int cublasLtMatmulPreferenceCreate(Preference** preference) {
  if (preference == nullptr) return blas::kInvalidValue;
  *preference = new Preference;
  return blas::kSuccess;
}

FLCE_API int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  delete preference;
  return blas::kSuccess;
}

FLCE_API int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* data,
                                                  std::size_t size) {
  if (preference == nullptr) return blas::kInvalidValue;
  if (attribute == 1) return Assign(preference->workspace, data, size);
  if (attribute >= 0 && attribute <= 12) return data == nullptr ? blas::kInvalidValue : blas::kSuccess;
  return RefuseBlas("cublasLtMatmulPreferenceSetAttribute", std::to_string(attribute));
}

FLCE_API int cublasLtMatmulAlgoGetHeuristic(void* handle, const MatmulDesc* desc, const MatrixLayout* a,
                                            const MatrixLayout* b, const MatrixLayout* c, const MatrixLayout* d,
                                            const Preference* preference, int wanted, HeuristicResult* results,
                                            int* found) {
  if (FindBlasHandle(handle) == nullptr) return blas::kNotInitialized;
  if (preference == nullptr || wanted <= 0 || results == nullptr || found == nullptr) return blas::kInvalidValue;
  *found = 0;
  GemmRecord record;
  if (const int status = Describe(desc, a, b, c, d, record); status != blas::kSuccess) return status;
  results[0] = HeuristicResult();
  results[0].algorithm.data[0] = kAlgorithmMark;
  results[0].waves = 1.0F;
  *found = 1;
  return blas::kSuccess;
}

FLCE_API int cublasLtMatmul(void* handle, const MatmulDesc* desc, const void* alpha, const void*,
                            const MatrixLayout* a, const void*, const MatrixLayout* b, const void* beta, const void*,
                            const MatrixLayout* c, void*, const MatrixLayout* d, const Algorithm*, void*, std::size_t,
                            void* stream) {
  if (FindBlasHandle(handle) == nullptr) return blas::kNotInitialized;
  if (alpha == nullptr || beta == nullptr) return blas::kInvalidValue;
  GemmRecord record;
  if (const int status = Describe(desc, a, b, c, d, record); status != blas::kSuccess) return status;
  constexpr int kAlphaVectorBetaZero = 3;
  record.accumulates = desc->pointer_mode == 0
                           ? flce::emulator::ScalarIsNonZero(beta, desc->scale_type)
                           : desc->pointer_mode != kAlphaVectorBetaZero;
  Session session;
  return flce::emulator::BlasResult(session.Submit(stream, flce::emulator::GemmWork{record}));
}
