// Methods of C++ that are deprecated in TensorRT's module: they work, and warn.

#pragma once

#include <utility>

#include "convert.h"

namespace kiln::python {

/// The method, preceded by a DeprecationWarning that says what to use instead.
template <class R, class C, class... A>
auto with_warning(R (C::*method)(A...), const char* instead) {
  return [method, instead](C& self, A... arguments) -> R {
    deprecated(instead);
    return (self.*method)(std::forward<A>(arguments)...);
  };
}
template <class R, class C, class... A>
auto with_warning(R (C::*method)(A...) const, const char* instead) {
  return [method, instead](const C& self, A... arguments) -> R {
    deprecated(instead);
    return (self.*method)(std::forward<A>(arguments)...);
  };
}

}  // namespace kiln::python
