/// The bounds that an optimization profile gives the symbols of a network.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sym/assumption.h"
#include "sym/table.h"

namespace kiln {

using Replacements = std::vector<std::pair<sym::Expr, sym::Expr>>;

/// Bounds by symbol id, narrowed by every input axis that the symbol stands for, and by what must be equal.
class ProfileBounds {
 public:
  /// Symbols that nodes decide, by id, have the bounds that inference gives them.
  ProfileBounds(const sym::Table& table, const std::vector<bool>& is_decided);
  Status narrow(const sym::Expr& symbol, int64_t min, int64_t opt, int64_t max, std::string_view where);
  /// Makes one symbol of two, or a constant of one, where an assumption says that they are equal: one batch often has
  /// two names. Returns whether there were any. The assumptions stay the network's to check. What a node decides stays
  /// a symbol: somebody has to compare it with what it should be.
  Result<bool> unite(const std::vector<sym::Assumption>& assumptions);
  /// Gives symbols without a limit, elements of shape inputs that the profile does not mention, those that assumptions
  /// set: k <= 6. Returns whether there were any. The assumptions stay to be checked likewise.
  bool limit(const std::vector<sym::Assumption>& assumptions);
  /// Symbols of `table`, ids kept; constants where one value is left.
  Replacements replacements(const sym::Table& old_table, sym::Table& table) const;

 private:
  size_t root_of(size_t id) const;
  bool limit(const sym::Expr& symbol, const sym::Assumption& assumption);

  std::vector<sym::Bounds> bounds_;
  std::vector<bool> opt_set_, is_decided_;
  std::vector<size_t> same_as_;  ///< by id: a lower one, or itself
};

/// Moves the optimum of symbols until it breaks no assumption of broadcasting, if that is possible: kernels are timed
/// at it. p = 4 and q = 8 that broadcast become 8 and 8.
void make_optimum_agree(sym::Table& table, const std::vector<sym::Assumption>& assumptions);

}  // namespace kiln
