/// A network narrowed to one optimization profile.
#pragma once

#include "builder/build.h"
#include "builder/profile_guards.h"

namespace kiln {

/// A copy of a network in a symbol table of its own, with a profile's bounds. Symbols keep their ids; one whose
/// minimum is its maximum becomes a constant, and two that the network needs to be equal become one.
struct ProfileGraph {
  ir::Graph graph;
  ProfileBounds bounds;
  ProfileGuards guards;  ///< of what making the copy believed; who rewrites it adds what that believes
};
/// Fails where the profile lacks an input or contradicts its type.
Result<ProfileGraph> specialize(const ir::Graph& network, const ProfileRequest& profile);

/// The ranges of every input under the profile, constants included, in the order of the network's inputs.
Result<std::vector<plan::InputRange>> extent_ranges(const ir::Graph& network, const ProfileRequest& profile);

}  // namespace kiln
