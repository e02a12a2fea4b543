/// Lists of tactics, as backends keep them by op.
#pragma once

#include <array>
#include <span>
#include <tuple>

#include "tactics/tactic.h"

namespace kiln {

using TacticList = std::span<const Tactic* const>;

/// One tactic of each class, made once.
template <class... T>
TacticList list_of() {
  static const std::tuple<T...> kTactics{};
  static const auto kList =
      std::apply([](const T&... tactic) { return std::array<const Tactic*, sizeof...(T)>{&tactic...}; }, kTactics);
  return kList;
}

}  // namespace kiln
