/// A nest behind a contraction: how it runs.
#pragma once

#include <optional>
#include <vector>

#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/nest/nest.h"
#include "steps/epilogue.h"

namespace kiln::cpu {

class LoadedHook {
 public:
  /// The hook of a step's epilogue, if there is one.
  static Result<std::optional<LoadedHook>> load(const steps::Epilogue& epilogue);

  /// The operands of one run, in `extras` (one an operand), for a result of `columns` columns. `row_offset` is where
  /// the kernel's row 0 lies in the whole result.
  NestTile tile(const void* const* inputs, std::span<NestTile::Extra> extras, int64_t columns,
                int64_t row_offset = 0) const;
  size_t num_operands() const { return operands_.size(); }

 private:
  LoadedHook(Nest nest, std::vector<steps::HookOperand> operands)
      : nest_(std::move(nest)), operands_(std::move(operands)) {}

  Nest nest_;
  std::vector<steps::HookOperand> operands_;
};

/// One run's epilogue of a contraction. Its parts point at each other, so it stays where it is made.
class RunEpilogue {
 public:
  /// For a result of `columns` columns; `hook`, if there is one, has `extras` as room for its operands. `row_offset` is
  /// where the kernel's row 0 lies in the whole result.
  RunEpilogue(const steps::Epilogue& step, const LoadedHook* hook, std::span<NestTile::Extra> extras,
              const void* const* inputs, int64_t columns, int64_t row_offset = 0);
  RunEpilogue(const RunEpilogue&) = delete;
  RunEpilogue& operator=(const RunEpilogue&) = delete;

  const Epilogue& get() const { return epilogue_; }
  void set_residual(const float* data) { epilogue_.residual = data; }

 private:
  NestTile tile_{};
  TileHook hook_{};
  Epilogue epilogue_;
};

}  // namespace kiln::cpu
