#include "backend/cpu/exec/hook.h"

namespace kiln::cpu {

Result<std::optional<LoadedHook>> LoadedHook::load(const steps::Epilogue& epilogue) {
  if (!epilogue.hook) return std::nullopt;
  Nest nest = TRY(Nest::make(epilogue.hook->program));
  TRY(require(nest.program().inputs[0] == DType::kF32 && nest.program().outputs[0] == DType::kF32, "a hook makes ",
              nest.program().outputs[0], " of ", nest.program().inputs[0]));
  return LoadedHook(std::move(nest), epilogue.hook->operands, steps::Epilogue::kHook);
}

Result<LoadedHook> LoadedHook::load(const Record& record, const StepSpec& spec, size_t first_input) {
  steps::Hook hook = TRY(from_record<steps::Hook>(record));
  Nest nest = TRY(Nest::make(std::move(hook.program)));
  const NestProgram& program = nest.program();
  TRY(require(spec.inputs.size() == first_input + hook.operands.size() && program.inputs[0] == DType::kF32 &&
                  program.outputs[0] == DType::kF32,
              "a hook of ", hook.operands.size(), " operands has a program of ", program.inputs.size(),
              " inputs in a step of ", spec.inputs.size()));
  for (size_t i = 0; i < hook.operands.size(); ++i)
    TRY(require(spec.inputs[first_input + i].present && spec.inputs[first_input + i].dtype == program.inputs[i + 1],
                "operand ", i, " of a hook is ", spec.inputs[first_input + i].dtype, "; its program reads ",
                program.inputs[i + 1]));
  return LoadedHook(std::move(nest), std::move(hook.operands), first_input);
}

NestTile LoadedHook::tile(const void* const* inputs, std::span<NestTile::Extra> extras, int64_t columns,
                          int64_t row_offset) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto* data = static_cast<const std::byte*>(inputs[first_input_ + i]);
    NestTile::Extra& extra = extras[i];
    extra = {data, 0, 0};
    if (operands_[i] != steps::HookOperand::kScalar) extra.col_stride = 1;
    if (operands_[i] != steps::HookOperand::kWhole) continue;
    extra.row_stride = columns;
    extra.data = data + size_bytes(nest_.program().inputs[i + 1], row_offset * columns);
  }
  return {&nest_, extras.data()};
}

}  // namespace kiln::cpu
