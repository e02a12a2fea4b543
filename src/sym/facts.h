/// Facts about expressions beyond the bounds of their symbols, which hold as long as the network runs at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sym/expr.h"

namespace kiln::sym {

struct Assumption;

/// The value of `e` is at least `least`; `reason` says why.
struct Fact {
  Expr e;
  int64_t least;
  std::string reason;
};

/// Narrows the limits of `e`, and of what it is made of as far as that follows (n of floor_div(n - 3, 2) >= 0), from
/// here on, in all of its table. `Table::bounds` stay what they are. The caller sees to it that nothing runs where the
/// fact does not hold. An invalid or constant expression teaches nothing.
void learn(Expr e, int64_t least, std::string_view reason);
/// Learns what an assumption says of limits: of the relations only <= does.
void learn(const Assumption& assumption);
/// All that was learned and not forgotten, with what followed from it.
std::vector<Fact> known_facts(Table& table);
/// Forgets what was learned, except what simplifications relied on, which it returns: that must go on to hold.
std::vector<Fact> forget_facts(Table& table);

}  // namespace kiln::sym
