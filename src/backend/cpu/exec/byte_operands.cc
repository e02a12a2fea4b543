#include "backend/cpu/exec/byte_operands.h"

#include "backend/cpu/kernels/gemm8/winograd.h"
#include "ops/quantization.h"
#include "steps/by_function.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {
namespace {

using steps::ByteOperand;

int32_t zero_point(const void* data, DType type) {
  if (!data) return 0;
  return type == DType::kI8 ? int32_t{*static_cast<const int8_t*>(data)} : int32_t{*static_cast<const uint8_t*>(data)};
}

}  // namespace

Status require_integers(const StepSpec& spec) {
  const DType x = spec.inputs[0].dtype, y = spec.outputs[0].dtype;
  TRY(require(is_byte(x) && (is_byte(y) || y == DType::kF32),
              "the CPU multiplies integers of 8 bits, and makes them or f32; not ", y, " of ", x));
  for (size_t i = steps::Epilogue::kBias; i < spec.inputs.size(); ++i) {
    const StepTensor& input = spec.inputs[i];
    TRY(require(!input.present || is_byte(input.dtype) || input.dtype == DType::kF32, "input ", i,
                " of a product of bytes is ", input.dtype, "; the CPU reads f32 and bytes"));
  }
  return {};
}

LoadedBytes::LoadedBytes(const StepSpec& spec, steps::Epilogue epilogue, std::optional<LoadedHook> hook, Team& team)
    : num_inputs_(spec.inputs.size()),
      x_type_(spec.inputs[0].dtype),
      y_type_(spec.outputs[0].dtype),
      epilogue_(std::move(epilogue)),
      hook_(std::move(hook)),
      team_(team) {}

Status LoadedBytes::pack(const HostTensor& w, ByteMatrix matrix, int64_t k, int64_t n, int64_t taps) {
  matrix.data = w.data<int8_t>();
  order_ = matrix;
  extents_ = w.extents();
  packed_ = TRY(pack_bytes(matrix, k, n, taps));
  return {};
}

Status LoadedBytes::transform(const Window& window, int64_t channels) {
  return suits_winograd(window, channels, packed_.n) ? transform_weights(packed_, channels) : Status();
}

Status LoadedBytes::require_packed(const Extents& w) const { return require_extents(w, extents_, "weights of bytes"); }

void LoadedBytes::unpack(int, std::span<std::byte> into) const {
  auto* const to = reinterpret_cast<int8_t*>(into.data());
  for (int64_t t = 0; t < packed_.taps; ++t)
    for (int64_t i = 0; i < packed_.k; ++i)
      for (int64_t j = 0; j < packed_.n; ++j) to[order_.offset(t, i, j)] = packed_.at(t, i, j);
}

ByteScales LoadedBytes::scales(const RunArguments& arguments, bool has_one_w_scale) const {
  const auto input = [&](ByteOperand which) { return arguments.inputs[steps::input_of(which, num_inputs_)]; };
  return {*static_cast<const float*>(input(ByteOperand::kXScale)), zero_point(input(ByteOperand::kXZero), x_type_),
          x_type_ == DType::kI8, static_cast<const float*>(input(ByteOperand::kWScale)), has_one_w_scale};
}

ByteResult LoadedBytes::result(const RunArguments& arguments) const {
  const auto input = [&](ByteOperand which) { return arguments.inputs[steps::input_of(which, num_inputs_)]; };
  if (y_type_ == DType::kF32) return {.floats = static_cast<float*>(arguments.outputs[0])};
  return {.bytes = static_cast<uint8_t*>(arguments.outputs[0]),
          .y_scale = *static_cast<const float*>(input(ByteOperand::kYScale)),
          .y_zero = zero_point(input(ByteOperand::kYZero), y_type_),
          .y_is_signed = y_type_ == DType::kI8};
}

std::unique_ptr<BoundStep> LoadedBytes::bind_shape(const ByteShape& shape, const StepShapes& shapes) const {
  const bool has_one_w_scale = volume(shapes.inputs[steps::input_of(ByteOperand::kWScale, num_inputs_)]) == 1;
  const auto run = [this, shape, has_one_w_scale,
                    extras = std::vector<NestTile::Extra>(hook_ ? hook_->num_operands() : 0)](
                       const RunArguments& arguments) mutable -> Status {
    const RunEpilogue epilogue(epilogue_, hook_ ? &*hook_ : nullptr, extras, arguments.inputs, packed_.n);
    contract(team_, shape, static_cast<const uint8_t*>(arguments.inputs[0]), packed_,
             scales(arguments, has_one_w_scale), result(arguments), epilogue.get(), arguments.workspace);
    return {};
  };
  return bound_step(run, contract_workspace_bytes(shape, packed_.k, packed_.n, team_.size()));
}

}  // namespace kiln::cpu
