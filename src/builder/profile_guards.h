/// Beliefs of a profile's copy of a network about shapes, for contexts to check.
#pragma once

#include <memory>
#include <vector>

#include "builder/profile_bounds.h"
#include "ir/graph.h"

namespace kiln {

/// Extents are simplified, tactics chosen and nodes rewritten by what inference assumes. A plan checks what its network
/// assumes; what the copy assumes beyond that, as its bounds or its new nodes are others, its profile has to check.
class ProfileGuards {
 public:
  /// `bounds` are those that contexts check of inputs: the profile's ranges, and nothing that follows from them.
  ProfileGuards(const ir::Graph& network, const ProfileBounds& bounds);
  /// Adds what `graph` believes and what does not follow from what is checked already. `bounds` are those of `graph`.
  Status add(const ir::Graph& graph, const ProfileBounds& bounds);
  std::vector<sym::Guard> compile() const;

 private:
  std::unique_ptr<sym::Table> table_;     ///< the network's symbols by id, with the profile's ranges
  std::vector<sym::Expr> symbols_;        ///< by id; constants where a range has one value
  std::vector<sym::Assumption> checked_;  ///< over table_: first the network's own
  size_t num_of_network_ = 0;
};

}  // namespace kiln
