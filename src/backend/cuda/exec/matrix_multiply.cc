#include "backend/cuda/exec/matrix_multiply.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/exec/cublaslt.h"
#include "backend/cuda/exec/gemm_step.h"
#include "steps/matrix_multiply.h"

namespace kiln::cuda {
namespace {

/// Whether kernels count the batches of a product that makes y.
Status check_batches(const ops::MatrixMultiply& op, const Extents& y) {
  const size_t matrix_axes = size_t{op.a != ops::MatrixOp::kVector} + size_t{op.b != ops::MatrixOp::kVector};
  int64_t batches = 1;
  for (const int64_t extent : std::span(y).first(y.size() - matrix_axes))
    TRY(require(!__builtin_mul_overflow(batches, std::max<int64_t>(extent, 1), &batches) && batches < int64_t{1} << 31,
                "a product that makes ", y, " has more than 2^31 batches"));
  return {};
}

/// Elements from column to column of a packed b: k, padded to whole vectors.
int64_t packed_pitch(int64_t k, DType type) {
  const int64_t whole = std::max<int64_t>(8, 128 / bits_of(type));
  return (k + whole - 1) / whole * whole;
}

Result<GemmArguments> arguments_of(const ops::MatrixMultiply& op, bool pack_b, DType type, const ProductForm& form,
                                   const StepShapes& shapes) {
  TRY(check_batches(op, shapes.outputs[0]));
  ProductShape p = ProductShape::of(op, shapes.inputs[0], shapes.inputs[1]);
  if (op.a != ops::MatrixOp::kTranspose) p.join_rows();
  constexpr int64_t kMost = int64_t{1} << 30;
  TRY(require(p.axes.size() <= Batches::kMost && p.m < kMost && p.n < kMost && p.k < kMost, "a product of ",
              p.axes.size(), " batch axes, ", p.m, " x ", p.n, " x ", p.k, " exceeds the kernels' limits of ",
              Batches::kMost, " axes and 2^30"));
  GemmArguments g;
  g.a_row = p.a_row, g.a_k = p.a_k;
  g.b_column = pack_b ? packed_pitch(p.k, type) : p.b_column, g.b_k = pack_b ? 1 : p.b_k;
  g.c_row = form.columns == Columns::kInPairs ? p.n / 2 : p.n;
  g.epsilon = form.epsilon;
  g.batches.axes = static_cast<int32_t>(p.axes.size());
  std::ranges::transform(p.axes, g.batches.axis, [](const ProductAxis& axis) {
    return BatchAxis{static_cast<int32_t>(axis.extent), 0, axis.a, axis.b, axis.y};
  });
  g.m = static_cast<int32_t>(p.m);
  g.n = static_cast<int32_t>(p.n);
  g.k = static_cast<int32_t>(p.k);
  return g;
}

/// The column of b that is the kernel's column `n` of `all`.
int64_t column_of(Columns columns, int64_t n, int64_t all) {
  return columns == Columns::kInOrder ? n : n / 2 + n % 2 * (all / 2);
}

/// b as [n][k], k padded with zeros to whole vectors.
Bytes packed(const ProductOperand& b, Columns columns, const HostTensor& from) {
  const int64_t pitch = packed_pitch(b.rows, from.dtype());
  const auto size = static_cast<size_t>(bits_of(from.dtype()) / 8);
  Bytes result(static_cast<size_t>(b.cols * pitch) * size);
  for (int64_t n = 0; n < b.cols; ++n) {
    const int64_t column = column_of(columns, n, b.cols) * b.col_stride;
    for (int64_t k = 0; k < b.rows; ++k)
      std::memcpy(result.data() + static_cast<size_t>(n * pitch + k) * size,
                  from.bytes().data() + static_cast<size_t>(k * b.row_stride + column) * size, size);
  }
  return result;
}

Status pack(const ops::MatrixMultiply& op, Columns columns, const LoadArguments& arguments, StepInputs& inputs) {
  const HostTensor* b = arguments.constants[1];
  TRY(require(b != nullptr, "the kernel packs b, which is not a constant of the plan"));
  TRY(require(b->rank() >= (op.b == ops::MatrixOp::kVector ? 1 : 2) && b->dtype() == arguments.spec.inputs[1].dtype,
              "the kernel cannot pack b ", b->dtype(), b->extents()));
  const ProductOperand matrix = right_operand(b->extents(), op.b);
  TRY(require(volume(matrix.batch) == 1, "the kernel cannot pack b ", b->extents(), ", which has batches"));
  return inputs.put(1, arguments, packed(matrix, columns, *b));
}

/// The bias, if there is one, as the kernel has the columns that it is added to.
Status pair_bias(const LoadArguments& arguments, StepInputs& inputs) {
  constexpr size_t kBias = steps::Epilogue::kBias;
  if (!arguments.spec.inputs[kBias].present) return {};
  const HostTensor* bias = arguments.constants[kBias];
  TRY(require(bias != nullptr, "the kernel packs a bias, which is not a constant of the plan"));
  const int64_t count = volume(bias->extents());
  const auto size = static_cast<size_t>(bits_of(bias->dtype()) / 8);
  Bytes result(static_cast<size_t>(count) * size);
  for (int64_t n = 0; n < count; ++n)
    std::memcpy(result.data() + static_cast<size_t>(n) * size,
                bias->bytes().data() + static_cast<size_t>(column_of(Columns::kInPairs, n, count)) * size, size);
  return inputs.put(kBias, arguments, result);
}

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_product(const ops::MatrixMultiply& op, const steps::Epilogue& epilogue,
                                                 const ProductTuning& tuning, const LoadArguments& arguments,
                                                 ContractionInputs inputs, const ProductForm& form) {
  TRY(validate(epilogue));
  TRY(require(tuning.gemm.has_value(), "a product by a kernel of ours has none"));
  LoadedGemm gemm = TRY(LoadedGemm::load(*tuning.gemm, arguments));
  std::optional<Extents> packed_extents;  // of b, where it is packed
  if (tuning.pack_b) {
    TRY(pack(op, form.columns, arguments, inputs));
    packed_extents = arguments.constants[1]->extents();
  }
  if (form.columns == Columns::kInPairs) TRY(pair_bias(arguments, inputs));
  TRY(inputs.upload_rest(arguments));
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [op, form, gemm = std::move(gemm), packed_extents = std::move(packed_extents),
               inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    if (packed_extents) TRY(require_extents(shapes.inputs[1], *packed_extents, "a product's weights"));
    return bind_gemm(gemm, inputs,
                     TRY(arguments_of(op, packed_extents.has_value(), gemm.kernel.types.b, form, shapes)));
  };
  return loaded_step(std::move(bind), packed_bytes);
}

LoadResult load(const steps::MatrixMultiply& step, const LoadArguments& arguments) {
  const ProductTuning tuning = TRY(from_record<ProductTuning>(arguments.spec.tuning));
  if (tuning.cublaslt) return load_by_cublaslt(step.epilogue, *tuning.cublaslt, step.op, arguments);
  TRY(require(!tuning.gemm->types.is_mixed(),
              "a kernel that multiplies FP32 weights and halves runs convolutions only"));
  return load_product(step.op, step.epilogue, tuning, arguments, ContractionInputs(arguments));
}

}  // namespace kiln::cuda
