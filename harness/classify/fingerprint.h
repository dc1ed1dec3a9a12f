#pragma once

#include <string>
#include <string_view>

#include "harness/model/failure.h"
#include "harness/model/observation.h"

namespace flce {

/// Of an exception: its outermost and innermost types, the innermost message without what differs between machines and
/// runs, and the functions it was raised in. Two different bugs differ; one bug on two machines, or on two patch releases,
/// agrees.
Fingerprint FingerprintOf(const ExceptionRecord& exception);
/// Of a process that died without an observation.
Fingerprint FingerprintOf(const ProcessEnd& end);

/// A message without addresses, numbers, sizes, paths, devices and generated names: "Broadcast failed in ExpandView([7])" ->
/// "Broadcast failed in ExpandView([N])". The first line that says something; at most 300 bytes.
std::string NormaliseMessage(std::string_view message);

}  // namespace flce
