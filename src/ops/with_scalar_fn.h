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

/// The functions of floats that nests have, by their kind: calls the one of three that `fn` is of; false for others,
/// such as logical ones.
template <class Activation, class Unary, class ElementWise>
bool with_float_fn(ScalarFn fn, Activation&& activation, Unary&& unary, ElementWise&& element_wise) {
  using enum ScalarFn;
  return with_scalar_fn<kRelu, kGeluTanh>(fn, activation) || with_scalar_fn<kExp, kErf>(fn, unary) ||
         with_scalar_fn<kSign, kIsNan>(fn, unary) || with_scalar_fn<kSum, kFloorDiv>(fn, element_wise) ||
         with_scalar_fn<kEqual, kLess>(fn, element_wise) || with_scalar_fn<kMod, kMod>(fn, element_wise);
}

}  // namespace kiln
