/// Errors as values: `Result<T>` and `Status`, and the three macros the project allows itself around them.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/str.h"

namespace kiln {

enum class Code : uint8_t {
  kInvalidArgument,  ///< the caller gave something that breaks a rule
  kUnsupported,      ///< valid, but not in Kiln yet
  kCorrupt,          ///< bytes from outside that are damaged or truncated
  kVersion,          ///< bytes of another version, or for another machine
  kNotFound,         ///< a name, file or key that is not there
  kState,            ///< a call out of order
  kOutOfMemory,
  kIo,       ///< the operating system refused a read or write
  kDevice,   ///< the device or its driver failed
  kInternal  ///< a bug of Kiln's
};
std::string_view name_of(Code code);

/// An error, in words that a user of the API can act on. Lower case, no full stop, so that contexts chain.
struct Error {
  Code code = Code::kInternal;
  std::string message;
};

template <class T = void>
using Result = std::expected<T, Error>;
using Status = Result<void>;

/// A reference that a Result can hold; converts to `T&`.
template <class T>
using Ref = std::reference_wrapper<T>;

template <class... Parts>
[[nodiscard]] std::unexpected<Error> error(Code code, const Parts&... parts) {
  return std::unexpected<Error>(Error{code, str(parts...)});
}

/// Succeeds if `holds`; else an invalid-argument error made of `parts`.
template <class... Parts>
[[nodiscard]] Status require(bool holds, const Parts&... parts) {
  if (holds) [[likely]]
    return {};
  return error(Code::kInvalidArgument, parts...);
}

/// Puts `describe()` and a colon before the message of a failed result.
template <class T, class F>
[[nodiscard]] Result<T> in_context(Result<T> result, F describe) {
  if (!result) return std::unexpected<Error>(Error{result.error().code, str(describe(), ": ", result.error().message)});
  return result;
}

/// Thrown by CHECK, caught only at the API's edge: one of our invariants is broken.
struct CheckFailed {
  std::string message;
};
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace kiln

/// The value of a Result, or return its error from the function around.
#define TRY(expression)                                                     \
  __extension__({                                                           \
    auto&& try_result = (expression);                                       \
    if (!try_result) [[unlikely]]                                           \
      return std::unexpected<::kiln::Error>(std::move(try_result).error()); \
    *std::move(try_result);                                                 \
  })

/// Guards an invariant of ours; becomes Code::kInternal at the API's edge and never ends the host process.
#define CHECK(condition) ((condition) ? static_cast<void>(0) : ::kiln::check_failed(#condition, __FILE__, __LINE__))
