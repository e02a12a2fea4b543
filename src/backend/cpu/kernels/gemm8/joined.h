/// Steps of a sum that are added up in 16 bits before they are in 32. Two products of bytes, one of at most 127, leave
/// room there unless both weights are extreme: weights decide, ahead of time, which steps go together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kiln::cpu {

struct PackedBytes;

inline constexpr int64_t kMostJoined = 3;  ///< steps that go together: more would need more registers

/// For each half panel, its steps (groups of kDotGroup numbers along taps and k) in an order in which those that go
/// together are neighbours.
struct JoinedSteps {
  std::vector<int32_t> order;                           ///< [half panels][steps]
  std::vector<std::array<int32_t, kMostJoined>> joins;  ///< [half panels]: how many joins of 1, 2, ... steps, in turn
};
JoinedSteps join_steps(const PackedBytes& w);

}  // namespace kiln::cpu
