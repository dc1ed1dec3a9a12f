// cuBLAS: handles, and the matrix products that torch uses.
#include "harness/emulator/cublas.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "harness/emulator/api.h"
#include "harness/emulator/gemm.h"

namespace flce::emulator {
namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<BlasHandle>> handles;
};

Handles& GetHandles() {
  static Handles* const handles = new Handles;
  return *handles;
}

}  // namespace

BlasHandle* FindBlasHandle(const void* handle) {
  Handles& known = GetHandles();
  const std::lock_guard<std::mutex> lock(known.mutex);
  const auto it = known.handles.find(handle);
  return it == known.handles.end() ? nullptr : it->second.get();
}

int BlasResult(Status status) {
  return status == Status::kSuccess ? blas::kSuccess : blas::kExecutionFailed;
}

int RefuseBlas(const char* api, std::string_view detail) {
  Session session;
  session.Refuse(api, detail);
  return blas::kNotSupported;
}

namespace {

// One product as any of the entry points states it.
struct Gemm {
  const char* api;
  int transa, transb;
  std::int64_t m, n, k;
  int a, b, c;
  std::int64_t lda, ldb, ldc;
  const void* alpha;
  const void* beta;
  int compute;
  std::int64_t batch = 1;
};

int Submit(void* handle, const Gemm& gemm) {
  const BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  constexpr char kOperations[] = {'n', 't', 'c'};
  if (gemm.transa < 0 || gemm.transa > 2 || gemm.transb < 0 || gemm.transb > 2) return blas::kInvalidValue;
  if (gemm.m < 0 || gemm.n < 0 || gemm.k < 0 || gemm.batch < 0) return blas::kInvalidValue;
  if (gemm.alpha == nullptr || gemm.beta == nullptr) return blas::kInvalidValue;
  const std::int64_t rows_a = gemm.transa == 0 ? gemm.m : gemm.k;
  const std::int64_t rows_b = gemm.transb == 0 ? gemm.k : gemm.n;
  if (gemm.lda < std::max<std::int64_t>(1, rows_a) || gemm.ldb < std::max<std::int64_t>(1, rows_b) ||
      gemm.ldc < std::max<std::int64_t>(1, gemm.m)) {
    return blas::kInvalidValue;
  }
  if (!GemmTypesSupported(gemm.a, gemm.b, gemm.c, gemm.compute)) return blas::kNotSupported;
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return blas::kSuccess;
  GemmRecord record;
  record.api = gemm.api;
  record.transa = kOperations[gemm.transa];
  record.transb = kOperations[gemm.transb];
  record.m = gemm.m;
  record.n = gemm.n;
  record.k = gemm.k;
  record.batch = gemm.batch;
  record.a = TypeName(gemm.a);
  record.b = TypeName(gemm.b);
  record.c = TypeName(gemm.c);
  record.d = record.c;
  record.compute = ComputeName(gemm.compute);
  // A scalar on the device may have been the work of a kernel, which is not run: then it counts as not zero.
  record.accumulates = found->pointer_mode != 0 || ScalarIsNonZero(gemm.beta, ScaleTypeOf(gemm.compute, gemm.c));
  Session session;
  return BlasResult(session.Submit(found->stream, GemmWork{record}));
}

}  // namespace
}  // namespace flce::emulator

using flce::emulator::BlasHandle;
using flce::emulator::FindBlasHandle;
using flce::emulator::Gemm;
using flce::emulator::Submit;
namespace blas = flce::emulator::blas;
namespace types = flce::emulator::types;

FLCE_API int cublasCreate_v2(void** handle) {
  if (handle == nullptr) return blas::kInvalidValue;
  {
    flce::emulator::Session session;
    if (session->profile.count == 0) return blas::kNotInitialized;
    session.UseContext(flce::emulator::CurrentThread().device);
  }
  auto made = std::make_unique<BlasHandle>();
  *handle = made.get();
  flce::emulator::Handles& known = flce::emulator::GetHandles();
  const std::lock_guard<std::mutex> lock(known.mutex);
  known.handles.emplace(*handle, std::move(made));
  return blas::kSuccess;
}

FLCE_API int cublasDestroy_v2(void* handle) {
  flce::emulator::Handles& known = flce::emulator::GetHandles();
  const std::lock_guard<std::mutex> lock(known.mutex);
  return known.handles.erase(handle) == 1 ? blas::kSuccess : blas::kNotInitialized;
}

FLCE_API int cublasLtCreate(void** handle) { return cublasCreate_v2(handle); }

FLCE_API int cublasLtDestroy(void* handle) { return cublasDestroy_v2(handle); }

FLCE_API int cublasSetStream_v2(void* handle, void* stream) {
  BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  found->stream = stream;
  return blas::kSuccess;
}

FLCE_API int cublasGetStream_v2(void* handle, void** stream) {
  const BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  if (stream == nullptr) return blas::kInvalidValue;
  *stream = found->stream;
  return blas::kSuccess;
}

FLCE_API int cublasSetWorkspace_v2(void* handle, void* workspace, std::size_t size) {
  if (FindBlasHandle(handle) == nullptr) return blas::kNotInitialized;
  return workspace == nullptr && size != 0 ? blas::kInvalidValue : blas::kSuccess;
}

FLCE_API int cublasSetMathMode(void* handle, int mode) {
  BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  found->math_mode = mode;
  return blas::kSuccess;
}

FLCE_API int cublasGetMathMode(void* handle, int* mode) {
  const BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  if (mode == nullptr) return blas::kInvalidValue;
  *mode = found->math_mode;
  return blas::kSuccess;
}

FLCE_API int cublasSetPointerMode_v2(void* handle, int mode) {
  BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  if (mode != 0 && mode != 1) return blas::kInvalidValue;
  found->pointer_mode = mode;
  return blas::kSuccess;
}

FLCE_API int cublasGetPointerMode_v2(void* handle, int* mode) {
  const BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  if (mode == nullptr) return blas::kInvalidValue;
  *mode = found->pointer_mode;
  return blas::kSuccess;
}

FLCE_API int cublasSetSmCountTarget(void* handle, int count) {
  BlasHandle* found = FindBlasHandle(handle);
  if (found == nullptr) return blas::kNotInitialized;
  if (count < 0) return blas::kInvalidValue;
  found->sm_count_target = count;
  return blas::kSuccess;
}

FLCE_API int cublasGemmEx(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void*,
                          int a, int lda, const void*, int b, int ldb, const void* beta, void*, int c, int ldc,
                          int compute, int) {
  return Submit(handle, {"cublasGemmEx", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta, compute});
}

FLCE_API int cublasGemmEx_64(void* handle, int transa, int transb, std::int64_t m, std::int64_t n, std::int64_t k,
                             const void* alpha, const void*, int a, std::int64_t lda, const void*, int b,
                             std::int64_t ldb, const void* beta, void*, int c, std::int64_t ldc, int compute, int) {
  return Submit(handle, {"cublasGemmEx_64", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta, compute});
}

FLCE_API int cublasSgemmEx(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void*,
                           int a, int lda, const void*, int b, int ldb, const void* beta, void*, int c, int ldc) {
  return Submit(handle, {"cublasSgemmEx", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta,
                         types::kCompute32});
}

FLCE_API int cublasGemmStridedBatchedEx(void* handle, int transa, int transb, int m, int n, int k, const void* alpha,
                                        const void*, int a, int lda, long long, const void*, int b, int ldb,
                                        long long, const void* beta, void*, int c, int ldc, long long, int batch,
                                        int compute, int) {
  return Submit(handle, {"cublasGemmStridedBatchedEx", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta,
                         compute, batch});
}

FLCE_API int cublasGemmStridedBatchedEx_64(void* handle, int transa, int transb, std::int64_t m, std::int64_t n,
                                           std::int64_t k, const void* alpha, const void*, int a, std::int64_t lda,
                                           long long, const void*, int b, std::int64_t ldb, long long,
                                           const void* beta, void*, int c, std::int64_t ldc, long long,
                                           std::int64_t batch, int compute, int) {
  return Submit(handle, {"cublasGemmStridedBatchedEx_64", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta,
                         compute, batch});
}

FLCE_API int cublasGemmBatchedEx(void* handle, int transa, int transb, int m, int n, int k, const void* alpha,
                                 const void* const*, int a, int lda, const void* const*, int b, int ldb,
                                 const void* beta, void* const*, int c, int ldc, int batch, int compute, int) {
  return Submit(handle, {"cublasGemmBatchedEx", transa, transb, m, n, k, a, b, c, lda, ldb, ldc, alpha, beta, compute,
                         batch});
}

// The products of one type: plain, batched by stride, batched by pointers.
#define FLCE_GEMM(letter, type, compute)                                                                           \
  FLCE_API int cublas##letter##gemm_v2(void* handle, int transa, int transb, int m, int n, int k,                  \
                                       const void* alpha, const void*, int lda, const void*, int ldb,              \
                                       const void* beta, void*, int ldc) {                                         \
    return Submit(handle, {"cublas" #letter "gemm", transa, transb, m, n, k, type, type, type, lda, ldb, ldc,      \
                           alpha, beta, compute});                                                                 \
  }                                                                                                                \
  FLCE_API int cublas##letter##gemm_v2_64(void* handle, int transa, int transb, std::int64_t m, std::int64_t n,    \
                                          std::int64_t k, const void* alpha, const void*, std::int64_t lda,        \
                                          const void*, std::int64_t ldb, const void* beta, void*,                  \
                                          std::int64_t ldc) {                                                      \
    return Submit(handle, {"cublas" #letter "gemm_64", transa, transb, m, n, k, type, type, type, lda, ldb, ldc,   \
                           alpha, beta, compute});                                                                 \
  }                                                                                                                \
  FLCE_API int cublas##letter##gemmStridedBatched(void* handle, int transa, int transb, int m, int n, int k,       \
                                                  const void* alpha, const void*, int lda, long long, const void*, \
                                                  int ldb, long long, const void* beta, void*, int ldc, long long, \
                                                  int batch) {                                                     \
    return Submit(handle, {"cublas" #letter "gemmStridedBatched", transa, transb, m, n, k, type, type, type, lda,  \
                           ldb, ldc, alpha, beta, compute, batch});                                                \
  }                                                                                                                \
  FLCE_API int cublas##letter##gemmBatched(void* handle, int transa, int transb, int m, int n, int k,              \
                                           const void* alpha, const void* const*, int lda, const void* const*,     \
                                           int ldb, const void* beta, void* const*, int ldc, int batch) {          \
    return Submit(handle, {"cublas" #letter "gemmBatched", transa, transb, m, n, k, type, type, type, lda, ldb,    \
                           ldc, alpha, beta, compute, batch});                                                     \
  }

FLCE_GEMM(S, types::kF32, types::kCompute32)
FLCE_GEMM(D, types::kF64, types::kCompute64)
FLCE_GEMM(C, types::kC32, types::kCompute32)
FLCE_GEMM(Z, types::kC64, types::kCompute64)

FLCE_API int cublasHgemm(void* handle, int transa, int transb, int m, int n, int k, const void* alpha, const void*,
                         int lda, const void*, int ldb, const void* beta, void*, int ldc) {
  return Submit(handle, {"cublasHgemm", transa, transb, m, n, k, types::kF16, types::kF16, types::kF16, lda, ldb, ldc,
                         alpha, beta, types::kCompute16});
}

FLCE_API int cublasHgemmStridedBatched(void* handle, int transa, int transb, int m, int n, int k, const void* alpha,
                                       const void*, int lda, long long, const void*, int ldb, long long,
                                       const void* beta, void*, int ldc, long long, int batch) {
  return Submit(handle, {"cublasHgemmStridedBatched", transa, transb, m, n, k, types::kF16, types::kF16, types::kF16,
                         lda, ldb, ldc, alpha, beta, types::kCompute16, batch});
}

// Products with a vector, as one-column products.
#define FLCE_GEMV(letter, type, compute)                                                                             \
  FLCE_API int cublas##letter##gemv_v2(void* handle, int trans, int m, int n, const void* alpha, const void*,        \
                                       int lda, const void*, int, const void* beta, void*, int) {                    \
    if (lda < m) return blas::kInvalidValue;                                                                         \
    const int rows = trans == 0 ? m : n;                                                                             \
    const int inner = trans == 0 ? n : m;                                                                            \
    return Submit(handle, {"cublas" #letter "gemv", trans, 0, rows, 1, inner, type, type, type, lda,                 \
                           std::max(1, inner), std::max(1, rows), alpha, beta, compute});                            \
  }

FLCE_GEMV(S, types::kF32, types::kCompute32)
FLCE_GEMV(D, types::kF64, types::kCompute64)
FLCE_GEMV(C, types::kC32, types::kCompute32)
FLCE_GEMV(Z, types::kC64, types::kCompute64)
