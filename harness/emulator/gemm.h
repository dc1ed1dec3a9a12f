#pragma once

#include <cstdint>

#include "harness/emulator/launch_log.h"

namespace flce::emulator {

/// cudaDataType_t and cublasComputeType_t, as far as matrix products use them.
namespace types {
inline constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kC32 = 4, kC64 = 5, kI32 = 10, kBf16 = 14;
inline constexpr int kE4m3 = 28, kE5m2 = 29, kE2m1 = 33;
inline constexpr int kCompute16 = 64, kCompute16Pedantic = 65, kCompute32 = 68, kCompute32Pedantic = 69,
                     kCompute64 = 70, kCompute64Pedantic = 71, kComputeI32 = 72, kComputeI32Pedantic = 73,
                     kCompute32Fast16 = 74, kCompute32FastBf16 = 75, kCompute32FastTf32 = 77,
                     kCompute32EmulatedBf16x9 = 78, kCompute64Emulated = 79;
}  // namespace types

/// "bf16", "f32", ...; "type <number>" is not given: an unknown type is "?".
const char* TypeName(int type);
/// "f32", "f16", "f32_tf32", ...; "?" for an unknown one.
const char* ComputeName(int compute);

/// Whether cublasGemmEx and its batched forms take these types together (the table of NVIDIA's cuBLAS documentation).
/// Bf16 and f16 products run on every card from compute capability 5.3 on, thus also on a T4, where bf16 has no tensor
/// cores (pytorch pull request 50442, issue 57773).
bool GemmTypesSupported(int a, int b, int c, int compute);

/// The same for cublasLtMatmul, which also takes 8-bit floats from compute capability 8.9 and 4-bit ones from 10.0 on.
bool LtTypesSupported(int a, int b, int c, int d, int compute, int capability);

/// Whether the scalar at `host` is not zero; `type` is that of the scale. An unknown type counts as not zero.
bool ScalarIsNonZero(const void* host, int type);

/// The type of alpha and beta that goes with a compute type and a result type of cublasGemmEx.
int ScaleTypeOf(int compute, int c);

}  // namespace flce::emulator
