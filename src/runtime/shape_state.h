/// The shapes that a program has set for a context, and what follows from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "runtime/fixed_shapes.h"
#include "runtime/io_addresses.h"

namespace kiln::runtime {

/// The extents of inputs and the values of shape inputs; once these are known, the values of all symbols. Borrows the
/// plan.
class ShapeState {
 public:
  explicit ShapeState(const plan::Plan& plan);
  /// Forgets the shapes set before. `fixed` belongs to the profile and is borrowed.
  void select_profile(int index, const FixedSymbols& fixed);
  int profile_index() const { return profile_; }
  const plan::Profile& profile() const { return plan_.profiles[static_cast<size_t>(profile_)]; }

  /// Fails if an extent is outside the profile's range; the message names input, axis and limit.
  Status set_input_extents(int input, std::span<const int64_t> extents);
  /// The extents as set, or the only ones that the profile allows; -1 where nothing is known yet.
  Extents input_extents(int input) const;
  /// The values of any of the plan's programs; -1 where an input that decides one is not set.
  Extents known_extents(std::span<const sym::Program> programs) const;
  /// Inputs whose extents, or (shape inputs) addresses, are still to be set.
  std::vector<int> unset_inputs(const IoAddresses& addresses) const;
  /// Whether there are none; costs nothing, however many inputs there are.
  bool all_inputs_set(const IoAddresses& addresses) const;

  /// Reads the shape inputs, evaluates the symbols, checks assumptions, and writes the outputs that are shape tensors,
  /// where they have addresses.
  Status infer(const IoAddresses& addresses);
  /// Fails where a tensor that has elements has no address. After `infer`.
  Status check_addresses(const IoAddresses& addresses) const;
  /// Whether some tensor's values are read or written in each run.
  bool has_shape_tensors() const { return !shape_inputs_.empty() || !shape_outputs_.empty(); }

  /// Another number after each change of shapes or values; never 0.
  uint64_t version() const { return version_; }
  const std::vector<Extents>& all_input_extents() const { return input_extents_; }
  /// Values by input; empty for those that are no shape inputs.
  const std::vector<std::vector<int64_t>>& input_values() const { return input_values_; }
  std::span<const int64_t> symbols() const { return symbols_; }

 private:
  void changed();
  Status read_shape_values(const IoAddresses& addresses);
  Status bind_symbols();
  Status bind_value(size_t s);
  Status check_assumptions() const;
  Status write_shape_outputs(const IoAddresses& addresses) const;

  const plan::Plan& plan_;
  const FixedSymbols* fixed_ = nullptr;
  int profile_ = 0;
  bool symbols_known_ = false;
  uint64_t version_ = 1;
  std::vector<Extents> input_extents_;  ///< empty extents with `extents_set_` false: not set
  std::vector<bool> extents_set_;
  std::ptrdiff_t num_extents_unset_ = 0;
  std::vector<int> shape_inputs_, shape_outputs_;
  std::vector<std::vector<int64_t>> input_values_;
  std::vector<int64_t> symbols_;
};

}  // namespace kiln::runtime
