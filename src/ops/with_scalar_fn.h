/// Calls with a scalar function known when compiling, by one chosen at run time.
#pragma once

#include <utility>

#include "ops/scalar.h"

namespace kiln {

/// Calls `f.template operator()<fn>()` for the `fn` in [kFirst, kLast] that is given; false if it is not among them.
template <ScalarFn kFirst, ScalarFn kLast, class F>
bool with_scalar_fn(ScalarFn fn, F&& f) {
  return [&]<int... kOffset>(std::integer_sequence<int, kOffset...>) {
    return ((fn == static_cast<ScalarFn>(static_cast<int>(kFirst) + kOffset)
                 ? (f.template operator()<static_cast<ScalarFn>(static_cast<int>(kFirst) + kOffset)>(), true)
                 : false) ||
            ...);
  }
  (std::make_integer_sequence<int, static_cast<int>(kLast) - static_cast<int>(kFirst) + 1>());
}

}  // namespace kiln
