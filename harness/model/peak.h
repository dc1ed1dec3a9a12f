#pragma once

#include <cstdint>

namespace flce {

/// Bytes. Below this a peak is made of workspaces (cuBLAS alone takes 32 MiB) and of the allocator's rounding: what it is
/// times another says nothing.
constexpr uint64_t kTellingPeak = 64 << 20;

}  // namespace flce
