/// What executors of products of bytes share.
#pragma once

#include <optional>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/gemm8/contract.h"
#include "steps/byte_operands.h"
#include "steps/packs_constants.h"

namespace kiln::cpu {

/// Fails unless a step of bytes has types that kernels of the CPU take: integers, and FP32.
Status require_integers(const StepSpec& spec);

/// Products of bytes by packed weights, with what follows them.
class LoadedBytes : public PacksConstants {
 public:
  int64_t packed_bytes() const override { return (packed_.data.size() + packed_.transformed.size()) * 4; }
  ConstantUse constant_use(int input) const override { return input == 1 ? ConstantUse::kPacked : ConstantUse::kRead; }
  void unpack(int, std::span<std::byte> into) const override;

 protected:
  LoadedBytes(const StepSpec& spec, steps::Epilogue epilogue, std::optional<LoadedHook> hook, Team& team);

  /// Packs w, read through `matrix`, whose data it replaces.
  Status pack(const HostTensor& w, ByteMatrix matrix, int64_t k, int64_t n, int64_t taps);
  /// Keeps what is packed transformed, too, where convolutions by `window` go faster that way.
  Status transform(const Window& window, int64_t channels);
  /// Fails unless `w` has the extents of what is packed.
  Status require_packed(const Extents& w) const;
  /// The step for a shape, of tensors of the extents that `shapes` has.
  std::unique_ptr<BoundStep> bind_shape(const ByteShape& shape, const StepShapes& shapes) const;

 private:
  ByteScales scales(const RunArguments& arguments, bool has_one_w_scale) const;
  ByteResult result(const RunArguments& arguments) const;

  const size_t num_inputs_;
  const DType x_type_, y_type_;
  const steps::Epilogue epilogue_;
  const std::optional<LoadedHook> hook_;
  Team& team_;
  PackedBytes packed_;
  ByteMatrix order_{};  // of w as the plan has it
  Extents extents_;     // of w
};

}  // namespace kiln::cpu
