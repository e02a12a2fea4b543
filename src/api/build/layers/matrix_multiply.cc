/// Products of matrices, of vectors and of batches of them.
#include "ops/matrix_multiply.h"
#include "api/build/layers/layers.h"

namespace kiln::api {
namespace {

class MatrixMultiplyLayer final : public LayerOf<ops::MatrixMultiply, nv::LayerType::kMATRIX_MULTIPLY,
                                                 nv::IMatrixMultiplyLayer, nv::apiv::VMatrixMultiplyLayer> {
 public:
  using LayerOf::LayerOf;

  void setOperation(int32_t index, nv::MatrixOperation op) noexcept override {
    edit("IMatrixMultiplyLayer::setOperation", [&](ops::MatrixMultiply& product) -> Status {
      TRY(require(index == 0 || index == 1, "index is ", index, "; it must be 0 or 1"));
      (index == 0 ? product.a : product.b) = TRY(enum_from_api<ops::MatrixOp>(op, "op"));
      return {};
    });
  }
  nv::MatrixOperation getOperation(int32_t index) const noexcept override {
    return static_cast<nv::MatrixOperation>(index == 0 ? op().a : op().b);
  }
};

}  // namespace

Result<nv::IMatrixMultiplyLayer*> add_matrix_multiply(Network& network, nv::ITensor& a, nv::MatrixOperation a_op,
                                                      nv::ITensor& b, nv::MatrixOperation b_op) {
  const ir::ValueId left = TRY(network.value_of(a, "input0"));
  const ir::ValueId right = TRY(network.value_of(b, "input1"));
  const ops::MatrixMultiply op{.a = TRY(enum_from_api<ops::MatrixOp>(a_op, "op0")),
                               .b = TRY(enum_from_api<ops::MatrixOp>(b_op, "op1"))};
  return network.add<MatrixMultiplyLayer>(op, {left, right}, Settings::kComplete);
}
MakeLayer maker_of(Tag<ops::MatrixMultiply>) { return make<MatrixMultiplyLayer>; }

}  // namespace kiln::api
