/// Results as the private entry's status numbers, with the words kept for the thread.
#pragma once

#include "api/base/private_entry.h"
#include "base/error.h"

namespace kiln::api {

const char* last_error_text();
/// Keeps the message, and picks the number that comes nearest.
KilnStatus failed(const Error& error) noexcept;
KilnStatus failed(KilnStatus status, std::string_view message) noexcept;

/// Runs a body that returns a Status or a KilnStatus; exceptions become a status too.
template <class F>
KilnStatus entry_guard(F&& body) noexcept {
  try {
    const auto result = body();
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(result)>, KilnStatus>) {
      return result;
    } else {
      return result ? kKilnOk : failed(result.error());
    }
  } catch (const CheckFailed& check) {
    return failed(kKilnInternal, check.message);
  } catch (const std::bad_alloc&) {
    return failed(kKilnNoMemory, "out of memory");
  } catch (...) {
    return failed(kKilnInternal, "unexpected exception");
  }
}

}  // namespace kiln::api
