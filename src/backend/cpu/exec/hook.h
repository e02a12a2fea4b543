/// A nest behind a contraction: how a step stores it and how it runs.
#pragma once

#include <optional>
#include <vector>

#include "backend/cpu/kernels/nest/nest.h"
#include "steps/epilogue.h"
#include "steps/executor.h"

namespace kiln::cpu {

/// A hook loaded by a step whose inputs from `first_input` on are its operands.
class LoadedHook {
 public:
  /// The hook of a step's epilogue, if there is one.
  static Result<std::optional<LoadedHook>> load(const steps::Epilogue& epilogue);
  static Result<LoadedHook> load(const Record& record, const StepSpec& spec, size_t first_input);

  /// The operands of one run, in `extras` (one an operand), for a result of `columns` columns. `row_offset` is where
  /// the kernel's row 0 lies in the whole result.
  NestTile tile(const void* const* inputs, std::span<NestTile::Extra> extras, int64_t columns,
                int64_t row_offset = 0) const;
  size_t num_operands() const { return operands_.size(); }
  steps::HookOperand operand(size_t i) const { return operands_[i]; }
  size_t input_of(size_t i) const { return first_input_ + i; }  ///< of the step

 private:
  LoadedHook(Nest nest, std::vector<steps::HookOperand> operands, size_t first_input)
      : nest_(std::move(nest)), operands_(std::move(operands)), first_input_(first_input) {}

  Nest nest_;
  std::vector<steps::HookOperand> operands_;
  size_t first_input_;
};

}  // namespace kiln::cpu
