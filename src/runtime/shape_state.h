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
  /// The values of any of the plan's programs; -1 where an input that decides one is not set, or data decides it.
  Extents known_extents(std::span<const sym::Program> programs) const;
  /// The same, with the sizes that data has decided in the latest run; -1 where it has not.
  Extents latest_extents(std::span<const sym::Program> programs) const;
  /// Whether a program is at its largest where the sizes that data decides are.
  bool only_grows(const sym::Program& program) const;
  /// The values of programs where sizes that data decides are the largest possible. After `infer`.
  Extents largest_extents(std::span<const sym::Program> programs) const;
  /// Inputs whose extents, or (shape inputs) addresses, are still to be set.
  std::vector<int> unset_inputs(const IoAddresses& addresses) const;
  /// Whether there are none; costs nothing, however many inputs there are.
  bool all_inputs_set(const IoAddresses& addresses) const;

  /// Reads the shape inputs, evaluates the symbols, checks assumptions, and writes the outputs that are shape tensors,
  /// where they have addresses.
  Status infer(const IoAddresses& addresses);
  /// Forgets the sizes that data decides: another run begins. After `infer`.
  Status begin_run();
  /// Takes the sizes that the run of steps [first, end) has decided, one behind the other, and checks the assumptions
  /// that are known with them. Outputs that are shape tensors are written, as far as they are.
  Status decide(size_t first, size_t end, std::span<const int64_t> sizes, const IoAddresses& addresses);
  /// Whether data decides some size that a program reads.
  bool is_of_data(const sym::Program& program) const { return reads_any(program, of_data_); }
  /// Whether some of them is not known.
  bool is_undecided(const sym::Program& program) const { return reads_any(program, undecided_); }

  /// Fails where a tensor that has elements has no address. After `infer`.
  Status check_addresses(const IoAddresses& addresses) const;
  /// Whether some tensor's values are read or written in each run.
  bool has_shape_tensors() const { return !shape_inputs_.empty() || !shape_outputs_.empty(); }

  /// Another number after each change of shapes or values; never 0.
  uint64_t version() const { return version_; }
  const std::vector<Extents>& all_input_extents() const { return input_extents_; }
  /// Values by input; empty for those that are no shape inputs.
  const std::vector<std::vector<int64_t>>& input_values() const { return input_values_; }
  /// By the plan's symbols; sizes that are not decided yet are the largest possible.
  std::span<const int64_t> symbols() const { return symbols_; }

 private:
  /// A guard that reads sizes that data decides.
  struct LaterGuard {
    const sym::Guard* guard;
    std::vector<int> symbols;
    bool is_checked = false;
  };
  void mark_known_sizes(std::vector<bool>& symbols) const;
  bool reads_any(const sym::Program& program, const std::vector<bool>& symbols) const;
  void forget_decided();
  void sort_guards();
  Status check_later_guards();
  void changed();
  Status read_shape_values(const IoAddresses& addresses);
  Status bind_symbols();
  Status bind_value(size_t s);
  Status check_assumptions() const;
  std::unexpected<Error> wrong_extent(size_t input, size_t axis, int64_t wanted) const;
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
  std::vector<bool> of_data_, undecided_;  ///< by symbol: data decides it; and has not
  bool has_data_sizes_ = false;            ///< whether there are any
  std::vector<const sym::Guard*> guards_;  ///< that are checked when shapes are inferred
  std::vector<LaterGuard> later_guards_;
};

}  // namespace kiln::runtime
