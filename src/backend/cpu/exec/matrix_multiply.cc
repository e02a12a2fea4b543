#include "steps/matrix_multiply.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/gemm/gemm.h"
#include "backend/cpu/kernels/gemm/tuning.h"
#include "backend/cpu/kernels/gemm/unpack.h"
#include "steps/packs_constants.h"
#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

class BoundMatrixMultiply final : public BoundStep {
 public:
  BoundMatrixMultiply(const steps::MatrixMultiply& step, const PackedB* packed, const LoadedHook* hook, Team& team,
                      const StepShapes& shapes)
      : step_(step), packed_(packed), hook_(hook), team_(team), extras_(hook ? hook->num_operands() : 0) {
    product_ = ProductShape::of(step.op, shapes.inputs[0], shapes.inputs[1]);
    product_.join_rows();
    std::vector<ProductAxis>& axes = product_.axes;
    const auto take = [&](ProductAxis& axis) {
      if (!axes.empty()) axis = axes.front(), axes.erase(axes.begin());
    };
    take(inner_);
    take(outer_);
    std::ranges::reverse(axes);
    shape_ = {product_.m, product_.n, product_.k, outer_.extent, inner_.extent};
  }

  int64_t workspace_bytes() const override {
    const GemmA a = left(nullptr);
    return packed_ ? gemm_workspace_bytes(shape_, a, *packed_)
                   : gemm_workspace_bytes(shape_, a, right(nullptr), {outer_.b, inner_.b});
  }

  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    auto* c = static_cast<float*>(arguments.outputs[0]);
    run_loops(0, {input(0), input(1), input(steps::Epilogue::kResidual), c, c}, arguments);
    return {};
  }

 private:
  GemmA left(const float* a) const {
    // If matrices of one row were joined into one, the row's stride is the step from matrix to matrix.
    return {a, product_.m == 1 ? product_.k : product_.a_row, {outer_.a, inner_.a}, product_.a_k};
  }
  Matrix right(const float* b) const { return {b, product_.b_k, product_.b_column, 0}; }

  /// The places of a product's operands; `whole` is the first element of all results.
  struct Pointers {
    const float *a, *b, *residual;
    float *c, *whole;
  };
  void run_loops(size_t depth, const Pointers& at, const RunArguments& arguments) {
    if (depth < product_.axes.size()) {
      const ProductAxis& axis = product_.axes[depth];
      for (int64_t i = 0; i < axis.extent; ++i)
        run_loops(depth + 1,
                  {at.a + i * axis.a, at.b + i * axis.b, at.residual ? at.residual + i * axis.y : nullptr,
                   at.c + i * axis.y, at.whole},
                  arguments);
      return;
    }
    RunEpilogue epilogue(step_.epilogue, hook_, extras_, arguments.inputs, shape_.n,
                         shape_.n > 0 ? (at.c - at.whole) / shape_.n : 0);
    epilogue.set_residual(at.residual);
    const GemmC out{at.c, shape_.n, {outer_.y, inner_.y}, {outer_.y, inner_.y}};
    if (packed_)
      gemm(team_, shape_, left(at.a), *packed_, out, epilogue.get(), arguments.workspace);
    else
      gemm(team_, shape_, left(at.a), right(at.b), {outer_.b, inner_.b}, out, epilogue.get(), arguments.workspace);
  }

  const steps::MatrixMultiply& step_;
  const PackedB* packed_;
  const LoadedHook* hook_;
  Team& team_;
  std::vector<NestTile::Extra> extras_;
  ProductShape product_;  // holds the batch axes beyond the kernel's two, the outermost first
  GemmShape shape_;
  ProductAxis outer_, inner_;
};

/// Weights that the plan's own took the place of may be larger than those that the builder saw.
Status require_halves(const HostTensor& b) {
  const std::span numbers(b.data<float>(), static_cast<size_t>(b.volume()));
  for (const float x : numbers)
    if (std::isfinite(x) && std::abs(x) > kLargestHalf)
      return error(Code::kUnsupported, "weights of ", x,
                   " are beyond FP16, in which this engine keeps them; build it anew");
  return {};
}

class LoadedMatrixMultiply final : public PacksConstants {
 public:
  LoadedMatrixMultiply(const steps::MatrixMultiply& step, std::optional<LoadedHook> hook, Team& team)
      : step_(step), team_(team), hook_(std::move(hook)) {}

  /// Packs b where it is one matrix for all batches, rounded to `type`.
  Status pack(const HostTensor& b, DType type) {
    const int least_rank = step_.op.b == ops::MatrixOp::kVector ? 1 : 2;
    TRY(require(b.rank() >= least_rank, "the product's right operand ", b.extents(), " has rank ", b.rank(),
                "; at least ", least_rank, " is needed"));
    const ProductOperand right = right_operand(b.extents(), step_.op.b);
    if (volume(right.batch) != 1) return {};
    if (type == DType::kF16) TRY(require_halves(b));
    const Matrix matrix{b.data<float>(), right.row_stride, right.col_stride, 0};
    packed_extents_ = b.extents();
    packed_ = std::make_unique<PackedB>(TRY(pack_b(matrix, right.rows, right.cols, 1, 1, 0, type)));
    return {};
  }
  int64_t packed_bytes() const override { return packed_ ? 4 * packed_->data.size() : 0; }
  ConstantUse constant_use(int input) const override {
    if (input != 1 || !packed_) return ConstantUse::kRead;
    return packed_->dtype == DType::kF32 ? ConstantUse::kPacked : ConstantUse::kRounded;
  }
  void unpack(int, std::span<std::byte> into) const override {
    const ProductOperand right = right_operand(packed_extents_, step_.op.b);
    unpack_b(*packed_, {nullptr, right.row_stride, right.col_stride}, 0, reinterpret_cast<float*>(into.data()));
  }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    if (packed_) TRY(require_extents(shapes.inputs[1], packed_extents_, "a product's weights"));
    return std::make_unique<BoundMatrixMultiply>(step_, packed_.get(), hook_ ? &*hook_ : nullptr, team_, shapes);
  }

 private:
  steps::MatrixMultiply step_;
  Team& team_;
  std::unique_ptr<PackedB> packed_;
  Extents packed_extents_;
  std::optional<LoadedHook> hook_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::MatrixMultiply& step, const LoadArguments& arguments) {
  const ProductTuning tuning = TRY(from_record<ProductTuning>(arguments.spec.tuning));
  TRY(require_types(arguments.spec, DType::kF32, steps::Epilogue::kHook));
  auto loaded = std::make_unique<LoadedMatrixMultiply>(step, TRY(LoadedHook::load(step.epilogue)), arguments.team);
  if (const HostTensor* b = arguments.constants[1]) TRY(loaded->pack(*b, tuning.types.value_or(ContractionTypes()).b));
  return loaded;
}

}  // namespace kiln::cpu
