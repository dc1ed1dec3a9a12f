#pragma once

#include <chrono>
#include <string>

namespace flce {

/// Time as the parts that wait or stamp see it; tests put a fake in its place.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds on a clock that never goes back; only differences mean something.
  virtual double Monotonic() = 0;
  /// UTC as RFC 3339, seconds precision: "2026-01-31T23:59:59Z".
  virtual std::string Utc() = 0;
};

/// The machine's clock.
Clock& SystemClock();

}  // namespace flce
