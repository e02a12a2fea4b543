/// A partial cover's demands on the nodes that are still to be visited: which are claimed, and which values are wanted
/// in which formats. A frontier of a network with thousands of open values is as quick to copy and to compare as a
/// small one: it keeps only what it does not share with others.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace kiln {

/// A value and the number of a format.
struct Want {
  ir::ValueId value = ir::ValueId::kNone;
  int format = 0;
  auto operator<=>(const Want&) const = default;
};

/// The wants of a region that reads many values, kept once for all frontiers that have it.
struct ManyWants {
  std::vector<Want> wants;  ///< ascending, each once
  uint32_t id = 0;
  uint32_t last_position = 0;  ///< where the last of them is met: they are of no interest behind it
};

/// Wants that all frontiers have.
class CommonWants {
 public:
  explicit CommonWants(int num_values) : formats_(static_cast<size_t>(num_values)) {}
  void add(Want want) { formats_[ir::index(want.value)].push_back(want.format); }
  std::span<const int> of(ir::ValueId value) const { return formats_[ir::index(value)]; }
  bool contains(Want want) const;

 private:
  std::vector<std::vector<int>> formats_;  // by value
};

/// Equal keys are those of equal frontiers, but for a chance of one in 2^128.
struct FrontierKey {
  uint64_t low = 0, high = 0;
  bool operator==(const FrontierKey&) const = default;
};
struct FrontierKeyHash {
  size_t operator()(const FrontierKey& key) const { return key.low; }
};

class Frontier {
 public:
  const FrontierKey& key() const { return key_; }

  /// Positions of nodes, ascending: the search meets the last one first.
  std::span<const uint32_t> claimed() const { return claimed_; }
  bool claims(uint32_t position) const;
  /// Adds positions, ascending and none of them claimed yet.
  void claim(std::span<const uint32_t> positions);
  void drop_last_claim();

  bool wants(Want want, const CommonWants& common) const;
  /// Whether a value is wanted in any format.
  bool wants(ir::ValueId value, const CommonWants& common) const;
  /// The formats that a value is wanted in, ascending.
  std::vector<int> formats_of(ir::ValueId value, const CommonWants& common) const;
  /// A want that is neither common nor there already.
  void add(Want want);
  void add(const ManyWants& many);
  /// Forgets the wants of a value that has been met.
  void drop(ir::ValueId value);
  /// Forgets regions of which all values have been met when the node at `position` has been visited.
  void drop_met(uint32_t position);

  /// Its own wants, ascending.
  std::span<const Want> own() const { return own_; }
  /// Forgets wants, ascending, that became common.
  void drop(std::span<const Want> common);

 private:
  enum class Part : uint8_t { kClaim, kWant, kMany };
  void include(Part part, uint64_t item);
  void exclude(Part part, uint64_t item);
  void exclude(Want want);

  std::vector<uint32_t> claimed_;
  std::vector<Want> own_;               // ascending; none that `many_` or the common wants have
  std::vector<const ManyWants*> many_;  // in the order of their adding
  FrontierKey key_;                     // a sum over all of this
};

}  // namespace kiln
