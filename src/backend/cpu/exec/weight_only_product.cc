#include "steps/weight_only_product.h"

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/weight_only/product.h"
#include "steps/by_function.h"
#include "steps/packs_constants.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {
namespace {

using steps::WeightOperand;

class LoadedWeightOnly final : public PacksConstants {
 public:
  LoadedWeightOnly(const steps::WeightOnlyProduct& step, std::optional<LoadedHook> hook, const LoadArguments& arguments)
      : step_(step), hook_(std::move(hook)), team_(arguments.team) {}

  Status pack(const LoadArguments& arguments) {
    const size_t inputs = arguments.spec.inputs.size();
    const HostTensor *b = arguments.constants[1],
                     *scale = arguments.constants[steps::input_of(WeightOperand::kScale, inputs)],
                     *zero = arguments.constants[steps::input_of(WeightOperand::kZero, inputs)];
    const bool lacks_zero = arguments.spec.inputs[steps::input_of(WeightOperand::kZero, inputs)].present && !zero;
    TRY(require(b && scale && !lacks_zero,
                "a product by quantized weights has weights, scales or zero points that are computed; its kernel packs "
                "constants"));
    const steps::WeightScales scales = TRY(steps::weight_scales(step_.op.b, b->extents(), scale->extents()));
    if (zero) TRY(require_extents(zero->extents(), scale->extents(), "zero points"));
    const ProductOperand matrix = right_operand(b->extents(), step_.op.b);
    order_ = {
        b->bytes().data(), b->dtype(),     matrix.rows,           matrix.cols,    matrix.row_stride,
        matrix.col_stride, scales.block,   scale->bytes().data(), scale->dtype(), zero ? zero->bytes().data() : nullptr,
        scales.k_stride,   scales.n_stride};
    packed_ = TRY(pack_weights(order_));
    extents_ = b->extents();
    scale_extents_ = scale->extents();
    scale_at_ = steps::input_of(WeightOperand::kScale, inputs);
    return {};
  }

  int64_t packed_bytes() const override { return packed_.size_bytes_in_all(); }
  ConstantUse constant_use(int input) const override { return input == 1 ? ConstantUse::kPacked : ConstantUse::kRead; }
  void unpack(int, std::span<std::byte> into) const override { unpack_weights(packed_, order_, into.data()); }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_extents(shapes.inputs[1], extents_, "quantized weights"));
    TRY(require_extents(shapes.inputs[scale_at_], scale_extents_, "scales"));
    const Extents& a = shapes.inputs[0];
    const int64_t rows = volume(std::span(a).first(a.size() - 1));
    const auto run = [this, rows, extras = std::vector<NestTile::Extra>(hook_ ? hook_->num_operands() : 0)](
                         const RunArguments& arguments) mutable {
      const auto* const a = static_cast<const float*>(arguments.inputs[0]);
      auto* const c = static_cast<float*>(arguments.outputs[0]);
      const RunEpilogue epilogue(step_.epilogue, hook_ ? &*hook_ : nullptr, extras, arguments.inputs, packed_.n);
      multiply_weights(team_, {rows, a, packed_.k, c, packed_.n}, packed_, epilogue.get(), arguments.workspace);
    };
    return bound_step(run, weight_workspace_bytes(rows, packed_.k, packed_.n, packed_.block, team_.size()));
  }

 private:
  const steps::WeightOnlyProduct step_;
  const std::optional<LoadedHook> hook_;
  Team& team_;
  PackedWeights packed_;
  QuantizedMatrix order_{};  // of the weights as the plan has them
  Extents extents_, scale_extents_;
  size_t scale_at_ = 0;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::WeightOnlyProduct& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require(spec.inputs[0].dtype == DType::kF32 && spec.outputs[0].dtype == DType::kF32, "a product of ",
              spec.inputs[0].dtype, " by quantized weights that makes ", spec.outputs[0].dtype,
              "; the CPU's kernel computes in f32"));
  TRY(require(spec.inputs[0].format.is_linear() && spec.outputs[0].format.is_linear(),
              "a product by quantized weights reads format ", spec.inputs[0].format, " and makes ",
              spec.outputs[0].format, "; its kernel is row-major"));
  auto loaded = std::make_unique<LoadedWeightOnly>(step, TRY(LoadedHook::load(step.epilogue)), arguments);
  TRY(loaded->pack(arguments));
  return loaded;
}

}  // namespace kiln::cpu
