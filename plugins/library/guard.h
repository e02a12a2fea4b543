/// The edge of the library: its calls neither throw nor fail without a word.
#pragma once

#include <exception>

#include "library/engines.h"
#include "library/entry.h"

namespace kiln::plugins {

/// Tells why a call fails: whoever makes it if that is libnvinfer, else the logger: "Split version 1: enqueue: words".
/// Without memory for that, the words alone.
inline void tell_failure(const Definition& definition, const char* call, const char* words) noexcept {
  std::string text;
  try {
    const std::string plugin = str(definition.name, " version ", definition.version), what = str(call, ": ", words);
    if (tell_caller(plugin.c_str(), what.c_str())) return;
    text = plugin + ": " + what;
  } catch (...) {
  }
  logger().log(nv::ILogger::Severity::kERROR, text.empty() ? words : text.c_str());
}

/// The body's result; where it fails or throws, `otherwise`, and the reason is told.
template <class T, class F>
T guarded(const Definition& definition, const char* call, T otherwise, F body) noexcept {
  try {
    Result<T> result = body();
    if (result) return std::move(*result);
    tell_failure(definition, call, result.error().message.c_str());
  } catch (const std::exception& thrown) {
    tell_failure(definition, call, thrown.what());
  } catch (...) {
    tell_failure(definition, call, "an exception that is no std::exception was thrown");
  }
  return otherwise;
}

}  // namespace kiln::plugins
