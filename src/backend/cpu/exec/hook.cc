#include "backend/cpu/exec/hook.h"

namespace kiln::cpu {

Result<std::optional<LoadedHook>> LoadedHook::load(const steps::Epilogue& epilogue) {
  if (!epilogue.hook) return std::nullopt;
  Nest nest = TRY(Nest::make(epilogue.hook->program));
  TRY(require(nest.program().inputs[0] == DType::kF32 && nest.program().outputs[0] == DType::kF32, "a hook makes ",
              nest.program().outputs[0], " of ", nest.program().inputs[0], "; CPU kernels take hooks of f32 alone"));
  return LoadedHook(std::move(nest), epilogue.hook->operands);
}

NestTile LoadedHook::tile(const void* const* inputs, std::span<NestTile::Extra> extras, int64_t columns,
                          int64_t row_offset) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto* data = static_cast<const std::byte*>(inputs[steps::Epilogue::kHook + i]);
    NestTile::Extra& extra = extras[i];
    extra = {data, 0, 0};
    if (operands_[i] != steps::HookOperand::kScalar) extra.col_stride = 1;
    if (operands_[i] != steps::HookOperand::kWhole) continue;
    extra.row_stride = columns;
    extra.data = data + size_bytes(nest_.program().inputs[i + 1], row_offset * columns);
  }
  return {&nest_, extras.data()};
}

RunEpilogue::RunEpilogue(const steps::Epilogue& step, const LoadedHook* hook, std::span<NestTile::Extra> extras,
                         const void* const* inputs, int64_t columns, int64_t row_offset)
    : epilogue_{static_cast<const float*>(inputs[steps::Epilogue::kBias]),
                static_cast<const float*>(inputs[steps::Epilogue::kResidual]),
                columns,
                static_cast<float>(step.lo),
                static_cast<float>(step.hi),
                nullptr} {
  if (!hook) return;
  tile_ = hook->tile(inputs, extras, columns, row_offset);
  hook_ = tile_.hook();
  epilogue_.hook = &hook_;
}

}  // namespace kiln::cpu
