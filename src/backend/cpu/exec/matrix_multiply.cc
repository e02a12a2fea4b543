/// Matrix products with bias, residual and clamp, row-major.
/// Inputs: a, b, bias or absent, residual or absent, operands of the hook.
/// Payload: transpose_a, transpose_b, vector_a, vector_b, lo, hi, hook (optional), weights (optional: the half type
/// that a constant b is packed in).
#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/gemm/gemm.h"
#include "steps/product_shapes.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {
namespace {

constexpr size_t kFixedInputs = 4;  // before the hook's operands

struct Attributes : ProductLayout {
  float lo = 0, hi = 0;
};

/// One batch axis: its extent, and how far each tensor moves along it (0 repeats).
struct BatchAxis {
  int64_t extent;
  ptrdiff_t a, b, c;
};

/// Batch axes innermost last, neighbours merged where every tensor moves through them in one stride.
std::vector<BatchAxis> batch_axes(const Operand& a, const Operand& b, int64_t c_matrix) {
  std::vector<BatchAxis> axes;
  const size_t rank = std::max(a.batch.size(), b.batch.size());
  int64_t a_step = a.rows * a.cols, b_step = b.rows * b.cols, c_step = c_matrix;
  for (size_t i = rank; i-- > 0;) {
    const int64_t ea = a.batch[i], eb = b.batch[i], extent = ea == 1 ? eb : ea;
    const BatchAxis axis{extent, ea == 1 ? 0 : a_step, eb == 1 ? 0 : b_step, c_step};
    a_step *= ea, b_step *= eb, c_step *= extent;
    if (extent == 1) continue;
    if (!axes.empty()) {
      BatchAxis& inner = axes.front();
      if (axis.a == inner.a * inner.extent && axis.b == inner.b * inner.extent && axis.c == inner.c * inner.extent) {
        inner.extent *= extent;
        continue;
      }
    }
    axes.insert(axes.begin(), axis);
  }
  return axes;
}

class BoundMatrixMultiply final : public BoundStep {
 public:
  BoundMatrixMultiply(const Attributes& at, const PackedB* packed, const LoadedHook* hook, Team& team,
                      const StepShapes& shapes)
      : at_(at), packed_(packed), hook_(hook), team_(team), extras_(hook ? hook->num_operands() : 0) {
    const Operand a = operand(shapes.inputs[0], at.vector_a, true), b = operand(shapes.inputs[1], at.vector_b, false);
    shape_.m = at.transpose_a ? a.cols : a.rows;
    shape_.k = at.transpose_a ? a.rows : a.cols;
    shape_.n = at.transpose_b ? b.rows : b.cols;
    a_ld_ =
        at.transpose_a && shape_.m > 1 ? 1 : shape_.k;  // of a single row: from matrix to matrix, if they are joined
    a_k_stride_ = at.transpose_a ? a.cols : 1;
    b_k_stride_ = at.transpose_b ? 1 : b.cols;
    b_n_stride_ = at.transpose_b ? b.cols : 1;
    std::vector<BatchAxis> axes = batch_axes(a, b, shape_.m * shape_.n);
    // Matrices that share b and lie behind each other are one taller matrix.
    if (!axes.empty() && axes.back().b == 0 && axes.back().a == shape_.m * shape_.k && a_k_stride_ == 1) {
      shape_.m *= axes.back().extent;
      axes.pop_back();
    }
    if (!axes.empty()) inner_ = axes.back(), axes.pop_back();
    if (!axes.empty()) outer_ = axes.back(), axes.pop_back();
    loops_ = std::move(axes);
    shape_.outer = outer_.extent;
    shape_.inner = inner_.extent;
  }

  int64_t workspace_bytes() const override {
    const GemmA a = left(nullptr);
    return packed_ ? gemm_workspace_bytes(shape_, a, *packed_)
                   : gemm_workspace_bytes(shape_, a, right(nullptr), {outer_.b, inner_.b});
  }

  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    auto* c = static_cast<float*>(arguments.outputs[0]);
    run_loops(0, {input(0), input(1), input(2), input(3), c, c}, arguments);
    return {};
  }

 private:
  GemmA left(const float* a) const { return {a, a_ld_, {outer_.a, inner_.a}, a_k_stride_}; }
  Matrix right(const float* b) const { return {b, b_k_stride_, b_n_stride_, 0}; }

  /// Where a product's operands lie; `whole` is the first element of all results.
  struct Pointers {
    const float *a, *b, *bias, *residual;
    float *c, *whole;
  };
  void run_loops(size_t depth, const Pointers& at, const RunArguments& arguments) {
    if (depth < loops_.size()) {
      const BatchAxis& axis = loops_[depth];
      for (int64_t i = 0; i < axis.extent; ++i)
        run_loops(depth + 1,
                  {at.a + i * axis.a, at.b + i * axis.b, at.bias, at.residual ? at.residual + i * axis.c : nullptr,
                   at.c + i * axis.c, at.whole},
                  arguments);
      return;
    }
    Epilogue epilogue{at.bias, at.residual, shape_.n, at_.lo, at_.hi, nullptr};
    NestTile tile{};
    TileHook hook{};
    if (hook_) {
      tile = hook_->tile(arguments.inputs, extras_, shape_.n, shape_.n > 0 ? (at.c - at.whole) / shape_.n : 0);
      hook = tile.hook();
      epilogue.hook = &hook;
    }
    const GemmC out{at.c, shape_.n, {outer_.c, inner_.c}, {outer_.c, inner_.c}};
    if (packed_)
      gemm(team_, shape_, left(at.a), *packed_, out, epilogue, arguments.workspace);
    else
      gemm(team_, shape_, left(at.a), right(at.b), {outer_.b, inner_.b}, out, epilogue, arguments.workspace);
  }

  const Attributes& at_;
  const PackedB* packed_;
  const LoadedHook* hook_;
  Team& team_;
  std::vector<NestTile::Extra> extras_;
  GemmShape shape_;
  ptrdiff_t a_ld_ = 0, a_k_stride_ = 1, b_k_stride_ = 0, b_n_stride_ = 1;
  BatchAxis outer_{1, 0, 0, 0}, inner_{1, 0, 0, 0};
  std::vector<BatchAxis> loops_;  // beyond the two that the kernel has
};

class LoadedMatrixMultiply final : public LoadedStep {
 public:
  LoadedMatrixMultiply(Attributes at, StepSpec spec, Team& team) : at_(at), spec_(std::move(spec)), team_(team) {}

  /// Packs b where it is one matrix for all batches, rounded to `type`.
  Status pack(const HostTensor& b, DType type) {
    TRY(require(b.rank() >= (at_.vector_b ? 1 : 2), "a product by ", b.extents()));
    const Operand operand_b = operand(b.extents(), at_.vector_b, false);
    if (volume(operand_b.batch) != 1) return {};
    const int64_t k = at_.transpose_b ? operand_b.cols : operand_b.rows,
                  n = at_.transpose_b ? operand_b.rows : operand_b.cols;
    const Matrix matrix{b.data<float>(), at_.transpose_b ? 1 : n, at_.transpose_b ? k : 1, 0};
    packed_extents_ = b.extents();
    packed_ = std::make_unique<PackedB>(TRY(pack_b(matrix, k, n, 1, 1, 0, type)));
    return {};
  }
  Status load_hook(const StepSpec& spec) {
    hook_ =
        std::make_unique<LoadedHook>(TRY(LoadedHook::load(TRY(spec.payload.get_record("hook")), spec, kFixedInputs)));
    return {};
  }
  int64_t packed_bytes() const override { return packed_ ? 4 * packed_->data.size() : 0; }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(check_product(at_, shapes));
    if (packed_) TRY(require_extents(shapes.inputs[1], packed_extents_, "a product's weights"));
    const Operand b = operand(shapes.inputs[1], at_.vector_b, false);
    TRY(require_epilogue(spec_, shapes, at_.transpose_b ? b.rows : b.cols, hook_.get()));
    return std::make_unique<BoundMatrixMultiply>(at_, packed_.get(), hook_.get(), team_, shapes);
  }

 private:
  Attributes at_;
  StepSpec spec_;
  Team& team_;
  std::unique_ptr<PackedB> packed_;
  Extents packed_extents_;
  std::unique_ptr<LoadedHook> hook_;
};

}  // namespace

namespace {
/// The type that constant weights are packed in.
Result<DType> packed_type(const Record& payload) {
  if (!payload.find("weights")) return DType::kF32;
  const std::string text = TRY(payload.get_text("weights"));
  const auto type = dtype_named(text);
  TRY(require(type == DType::kF16 || type == DType::kBF16, "a product's weights cannot be packed in '", text, "'"));
  return *type;
}
}  // namespace

Result<std::unique_ptr<LoadedStep>> load_matrix_multiply(const LoadArguments& arguments) {
  const Record& p = arguments.spec.payload;
  const Attributes at{{TRY(p.get_bool("transpose_a")), TRY(p.get_bool("transpose_b")), TRY(p.get_bool("vector_a")),
                       TRY(p.get_bool("vector_b"))},
                      static_cast<float>(TRY(p.get_double("lo"))),
                      static_cast<float>(TRY(p.get_double("hi")))};
  TRY(require_types(arguments.spec, DType::kF32, kFixedInputs));
  TRY(require(!(at.vector_a && at.transpose_a) && !(at.vector_b && at.transpose_b), "a product transposes a vector"));
  auto loaded = std::make_unique<LoadedMatrixMultiply>(at, arguments.spec, arguments.team);
  TRY(require_linear(arguments.spec, 1));
  if (const HostTensor* b = arguments.constants[1]) TRY(loaded->pack(*b, TRY(packed_type(p))));
  if (p.find("hook")) TRY(loaded->load_hook(arguments.spec));
  return loaded;
}

}  // namespace kiln::cpu
