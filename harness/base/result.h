#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace flce {

/// Why an operation gave no value. The kind decides the exit code, the message is what a person reads:
/// one line that says what went wrong, where, and what to do.
enum class ErrorKind {
  kUsage,        ///< the request cannot be meant (unknown name, malformed value)
  kEnvironment,  ///< the machine lacks something (network, disk, compiler, GPU)
  kNotFound,     ///< a named thing does not exist (a release, a file)
  kIo,           ///< reading or writing failed
  kData,         ///< a data file is malformed
  kInternal,     ///< a broken promise of this program
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};

/// Exit codes of the gate profile for errors that end a run before any verdict.
constexpr int ExitCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kNotFound:
    case ErrorKind::kData:
      return 2;
    case ErrorKind::kEnvironment:
    case ErrorKind::kIo:
      return 4;
    case ErrorKind::kInternal:
      return 70;
  }
  return 70;
}

/// A value or an Error. g++ 12 has std::expected only with -std=c++23; this is the part of it that is needed.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & { return assert(ok()), std::get<T>(state_); }
  const T& value() const& { return assert(ok()), std::get<T>(state_); }
  T&& value() && { return assert(ok()), std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return assert(!ok()), std::get<Error>(state_); }
  Error&& error() && { return assert(!ok()), std::get<Error>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// The value of an operation that only succeeds or fails.
struct Done {};
using Status = Result<Done>;

}  // namespace flce

/// Evaluates a Result; on failure returns its Error from the enclosing function, else binds the value.
#define FLCE_TRY(declaration, expression) FLCE_TRY_IMPL_(declaration, expression, __COUNTER__)
#define FLCE_TRY_IMPL_(declaration, expression, n) FLCE_TRY_NAMED_(declaration, expression, n)
#define FLCE_TRY_NAMED_(declaration, expression, n)      \
  auto flce_try_##n = (expression);                      \
  if (!flce_try_##n) return std::move(flce_try_##n).error(); \
  declaration = std::move(flce_try_##n).value()

/// The same for an operation without a value of interest.
#define FLCE_TRY_DO(expression)                                \
  do {                                                         \
    auto flce_try_status = (expression);                       \
    if (!flce_try_status) return std::move(flce_try_status).error(); \
  } while (false)
