/// The edge of the library: its calls neither throw nor fail without a word.
#pragma once

#include <exception>

#include "library/engines.h"

namespace kiln::plugins {

/// The body's result; where it fails or throws, `otherwise`, and the reason goes to the logger.
template <class T, class F>
T guarded(const Definition& definition, const char* call, T otherwise, F body) noexcept {
  try {
    Result<T> result = body();
    if (result) return std::move(*result);
    log_error(str(definition.name, " version ", definition.version, ": ", call).c_str(), result.error());
  } catch (const std::exception& thrown) {
    logger().log(nv::ILogger::Severity::kERROR, thrown.what());
  } catch (...) {
    logger().log(nv::ILogger::Severity::kERROR, call);
  }
  return otherwise;
}

}  // namespace kiln::plugins
