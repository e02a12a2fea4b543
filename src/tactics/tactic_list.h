/// Lists of tactics, as backends keep them by op.
#pragma once

#include <array>
#include <span>

#include "tactics/tactic.h"

namespace kiln {

using TacticList = std::span<const Tactic* const>;

/// The tactic of a class, made once.
template <class T>
const Tactic& the() {
  static const T tactic{};
  return tactic;
}

/// One tactic of each class, made once.
template <class... T>
TacticList list_of() {
  static const std::array<const Tactic*, sizeof...(T)> kList{&the<T>()...};
  return kList;
}

}  // namespace kiln
