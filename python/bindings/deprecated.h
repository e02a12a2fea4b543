/// Calls that TensorRT's module has deprecated: they work, and raise a DeprecationWarning.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace kiln::python {

/// Throws if the program turns warnings into exceptions.
inline void warn_deprecated(const char* message) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, message, 1) != 0) throw nanobind::python_error();
}

/// The method, preceded by a warning. `message` says what to use instead.
template <class R, class C, class... A>
auto deprecated(R (C::*method)(A...), const char* message) {
  return [method, message](C& self, A... arguments) -> R {
    warn_deprecated(message);
    return (self.*method)(std::forward<A>(arguments)...);
  };
}
template <class R, class C, class... A>
auto deprecated(R (C::*method)(A...) const, const char* message) {
  return [method, message](const C& self, A... arguments) -> R {
    warn_deprecated(message);
    return (self.*method)(std::forward<A>(arguments)...);
  };
}

}  // namespace kiln::python
