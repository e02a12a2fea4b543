/// The edge of the library: its calls neither throw nor fail without a word.
#pragma once

#include <exception>

#include "library/engines.h"

namespace kiln::plugins {

/// Tells the logger of an exception that reached a call: "Split version 1: enqueue: words". Without memory for that,
/// the words alone.
inline void log_thrown(const Definition& definition, const char* call, const char* words) noexcept {
  std::string text;
  try {
    text = str(definition.name, " version ", definition.version, ": ", call, ": ", words);
  } catch (...) {
  }
  logger().log(nv::ILogger::Severity::kERROR, text.empty() ? words : text.c_str());
}

/// The body's result; where it fails or throws, `otherwise`, and the reason goes to the logger.
template <class T, class F>
T guarded(const Definition& definition, const char* call, T otherwise, F body) noexcept {
  try {
    Result<T> result = body();
    if (result) return std::move(*result);
    log_error(str(definition.name, " version ", definition.version, ": ", call).c_str(), result.error());
  } catch (const std::exception& thrown) {
    log_thrown(definition, call, thrown.what());
  } catch (...) {
    log_thrown(definition, call, "an exception that is no std::exception was thrown");
  }
  return otherwise;
}

}  // namespace kiln::plugins
