/// The one place where results and exceptions end: every slot of the API that can fail runs its body in `guard`.
#pragma once

#include <type_traits>
#include <utility>

#include "api/base/report.h"

namespace kiln::api {

/// The value of `body()`, which returns a T or a Result<T>; where it fails or throws, the reporter is told and
/// `fallback` returned. `guard(reporter_, "IRuntime::loadRuntime", nullptr, [&]() -> Result<IRuntime*> { ... })`
template <class T, class F>
T guard(const Reporter& reporter, const char* call, T fallback, F&& body) noexcept {
  try {
    auto result = std::forward<F>(body)();
    if constexpr (std::is_convertible_v<decltype(result), T>) {
      return result;
    } else {
      if (result) [[likely]]
        return *std::move(result);
      reporter.report(call, result.error());
    }
  } catch (...) {
    reporter.report_current_exception(call);
  }
  return fallback;
}

/// Whether `body()`, which returns a Status (or nothing), succeeded.
template <class F>
bool guard(const Reporter& reporter, const char* call, F&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      std::forward<F>(body)();
      return true;
    } else {
      const Status status = std::forward<F>(body)();
      if (status) [[likely]]
        return true;
      reporter.report(call, status.error());
    }
  } catch (...) {
    reporter.report_current_exception(call);
  }
  return false;
}

/// The text behind a name argument; fails where it is null. `what` says which: "tensorName".
inline Result<std::string_view> name_argument(const char* name, const char* what) {
  if (!name) return error(Code::kInvalidArgument, what, " is null");
  return std::string_view(name);
}

}  // namespace kiln::api
