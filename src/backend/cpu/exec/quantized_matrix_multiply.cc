#include "steps/quantized_matrix_multiply.h"

#include "backend/cpu/exec/byte_operands.h"

namespace kiln::cpu {
namespace {

class LoadedQuantizedProduct final : public LoadedBytes {
 public:
  LoadedQuantizedProduct(const steps::QuantizedMatrixMultiply& step, std::optional<LoadedHook> hook,
                         const LoadArguments& arguments)
      : LoadedBytes(arguments.spec, step.epilogue, std::move(hook), arguments.team), op_(step.op) {}

  Status pack_right(const HostTensor& b) {
    TRY(require(b.rank() >= 2, "the right operand ", b.extents(), " is no matrix"));
    const ProductOperand right = right_operand(b.extents(), op_.b);
    return pack(b, {nullptr, right.row_stride, right.col_stride}, right.rows, right.cols, 1);
  }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_packed(shapes.inputs[1]));
    ByteShape shape;  // a row is a pixel
    const Extents& a = shapes.inputs[0];
    shape.window.in[2] = shape.window.out[2] = volume(std::span(a).first(a.size() - 1));
    return bind_shape(shape, shapes);
  }

 private:
  const ops::MatrixMultiply op_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::QuantizedMatrixMultiply& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_integers(spec));
  TRY(require(spec.inputs[0].format.is_linear() && spec.outputs[0].format.is_linear(),
              "a product of bytes reads format ", spec.inputs[0].format, " and makes ", spec.outputs[0].format,
              "; its kernel is row-major"));
  TRY(require(arguments.constants[1],
              "a product of bytes has a matrix b that is computed; its kernel packs constants"));
  auto loaded = std::make_unique<LoadedQuantizedProduct>(step, TRY(LoadedHook::load(step.epilogue)), arguments);
  TRY(loaded->pack_right(*arguments.constants[1]));
  return loaded;
}

}  // namespace kiln::cpu
