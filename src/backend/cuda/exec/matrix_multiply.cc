/// Matrix products with their epilogue, row-major.
/// Inputs: a, b, bias or absent, residual or absent, operands of the hook.
/// Payload: transpose_a, transpose_b, vector_a, vector_b, pack_b (b is a constant that the kernel wants along k),
/// epilogue (what it reads), gemm.
#include <cstring>

#include "backend/cuda/exec/gemm_step.h"
#include "steps/product_shapes.h"
#include "steps/step_tensors.h"

namespace kiln::cuda {
namespace {

struct Attributes : ProductLayout {
  bool pack_b = false;
};

/// Batch axes innermost first, neighbours merged where every tensor moves through them in one stride.
std::vector<BatchAxis> batch_axes(const Operand& a, const Operand& b, int64_t c_matrix) {
  std::vector<BatchAxis> axes;
  int64_t a_step = a.rows * a.cols, b_step = b.rows * b.cols, c_step = c_matrix;
  for (size_t i = std::max(a.batch.size(), b.batch.size()); i-- > 0;) {
    const int64_t ea = a.batch[i], eb = b.batch[i], extent = ea == 1 ? eb : ea;
    const BatchAxis axis{static_cast<int32_t>(extent), 0, ea == 1 ? 0 : a_step, eb == 1 ? 0 : b_step, c_step};
    a_step *= ea, b_step *= eb, c_step *= extent;
    if (extent == 1) continue;
    if (!axes.empty()) {
      BatchAxis& inner = axes.back();
      if (axis.a == inner.a * inner.extent && axis.b == inner.b * inner.extent && axis.c == inner.c * inner.extent) {
        inner.extent *= axis.extent;
        continue;
      }
    }
    axes.push_back(axis);
  }
  return axes;
}

/// Whether kernels count the batches of a product.
Status check_batches(const Attributes& at, const StepShapes& shapes) {
  const Extents& y = shapes.outputs[0];
  const size_t matrix_axes = size_t{!at.vector_a} + size_t{!at.vector_b};
  int64_t batches = 1;
  for (const int64_t extent : std::span(y).first(y.size() - matrix_axes))
    TRY(require(!__builtin_mul_overflow(batches, std::max<int64_t>(extent, 1), &batches) && batches < int64_t{1} << 31,
                "a product of ", shapes.inputs[0], " and ", shapes.inputs[1], " has more than 2^31 batches"));
  return {};
}

Result<GemmArguments> arguments_of(const Attributes& at, const StepShapes& shapes) {
  TRY(check_product(at, shapes));
  TRY(check_batches(at, shapes));
  const Operand a = operand(shapes.inputs[0], at.vector_a, true), b = operand(shapes.inputs[1], at.vector_b, false);
  const int64_t n = at.transpose_b ? b.rows : b.cols, k = at.transpose_a ? a.rows : a.cols;
  int64_t m = at.transpose_a ? a.cols : a.rows;
  GemmArguments g;
  g.a_row = at.transpose_a ? 1 : a.cols;
  g.a_k = at.transpose_a ? a.cols : 1;
  g.b_column = at.transpose_b ? b.cols : 1;
  g.b_k = at.transpose_b ? 1 : b.cols;
  if (at.pack_b) {
    g.b_column = (k + 7) / 8 * 8;
    g.b_k = 1;
  }
  g.c_row = n;
  std::vector<BatchAxis> axes = batch_axes(a, b, m * n);
  // Matrices that share b and lie behind each other are one taller matrix.
  if (!axes.empty() && axes.front().b == 0 && axes.front().a == m * k && !at.transpose_a) {
    m *= axes.front().extent;
    axes.erase(axes.begin());
  }
  constexpr int64_t kMost = int64_t{1} << 30;
  TRY(require(axes.size() <= Batches::kMost && m < kMost && n < kMost && k < kMost, "a product of ", axes.size(),
              " batch axes, ", m, " x ", n, " x ", k, " is larger than the kernels count"));
  g.batches.axes = static_cast<int32_t>(axes.size());
  std::ranges::copy(axes, g.batches.axis);
  g.m = static_cast<int32_t>(m);
  g.n = static_cast<int32_t>(n);
  g.k = static_cast<int32_t>(k);
  return g;
}

/// b as [n][k], k padded with zeros to whole vectors.
Bytes packed(const Attributes& at, const HostTensor& b) {
  const Operand matrix = operand(b.extents(), at.vector_b, false);
  const int64_t k = at.transpose_b ? matrix.cols : matrix.rows, n = at.transpose_b ? matrix.rows : matrix.cols;
  const int64_t pitch = (k + 7) / 8 * 8;
  const auto size = static_cast<size_t>(bits_of(b.dtype()) / 8);
  Bytes result(static_cast<size_t>(n * pitch) * size);
  const std::byte* from = b.bytes().data();
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t col = 0; col < matrix.cols; ++col, from += size) {
      const int64_t at_n = at.transpose_b ? row : col, at_k = at.transpose_b ? col : row;
      std::memcpy(result.data() + static_cast<size_t>(at_n * pitch + at_k) * size, from, size);
    }
  return result;
}

class LoadedMatrixMultiply final : public LoadedStep {
 public:
  LoadedMatrixMultiply(const Attributes& at, LoadedGemm gemm, EpilogueInputs epilogue, Extents packed_extents,
                       Constants constants)
      : at_(at),
        gemm_(std::move(gemm)),
        epilogue_(std::move(epilogue)),
        packed_extents_(std::move(packed_extents)),
        constants_(std::move(constants)) {}
  int64_t packed_bytes() const override { return constants_.packed_bytes(); }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const GemmArguments arguments = TRY(arguments_of(at_, shapes));
    if (at_.pack_b) TRY(require_extents(shapes.inputs[1], packed_extents_, "a product's weights"));
    TRY(epilogue_.check(shapes, arguments.n));
    return bind_gemm(gemm_, constants_, arguments);
  }

 private:
  Attributes at_;
  LoadedGemm gemm_;
  EpilogueInputs epilogue_;
  Extents packed_extents_;  ///< of b, where it is packed
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_matrix_multiply(const LoadArguments& arguments) {
  const Record& p = arguments.spec.payload;
  const Attributes at{{TRY(p.get_bool("transpose_a")), TRY(p.get_bool("transpose_b")), TRY(p.get_bool("vector_a")),
                       TRY(p.get_bool("vector_b"))},
                      TRY(p.get_bool("pack_b"))};
  LoadedGemm gemm = TRY(LoadedGemm::load(TRY(from_record<GemmKernel>(TRY(p.get_record("gemm")))), arguments));
  EpilogueInputs epilogue = TRY(EpilogueInputs::load(arguments.spec));
  TRY(require(!gemm.kernel.float_weights, "a matrix product of FP32 weights and halves"));
  Constants constants(arguments.spec.inputs.size());
  TRY(require_linear(arguments.spec, 1));
  const HostTensor* b = arguments.constants[1];
  if (at.pack_b) {
    TRY(require(b != nullptr, "a product that packs b has none in the plan"));
    const int rank = at.vector_b ? 1 : 2;
    TRY(require(b->rank() >= rank &&
                    volume(std::span(b->extents()).first(static_cast<size_t>(b->rank() - rank))) == 1 &&
                    b->dtype() == gemm.kernel.element,
                "a product packs b of ", b->dtype(), b->extents()));
    TRY(constants.put(1, arguments, packed(at, *b)));
  }
  TRY(constants.upload_rest(arguments));
  return std::make_unique<LoadedMatrixMultiply>(at, std::move(gemm), std::move(epilogue),
                                                at.pack_b ? b->extents() : Extents(), std::move(constants));
}

}  // namespace kiln::cuda
