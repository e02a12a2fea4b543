#include "backend/cuda/exec/cublaslt.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/library_inputs.h"
#include "steps/product_shape.h"
#include "steps/step_tensors.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

class BoundLtProduct final : public BoundStep {
 public:
  BoundLtProduct(const CublasLtOnDevice& lt, const StepInputs& inputs, LtDescriptors descriptors, LtChoice choice,
                 const LtProduct& product, float scale = 1, size_t scales_input = 0)
      : lt_(lt),
        inputs_(inputs),
        descriptors_(std::move(descriptors)),
        choice_(choice),
        has_bias_(product.bias),
        has_residual_(product.residual),
        is_of_fp8_(product.types.out == DType::kF8E4M3),
        scale_(scale),
        scales_input_(product.scales ? scales_input : 0) {}

  int64_t workspace_bytes() const override { return choice_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, inputs_.size(), kLibraryAlignment));
    const CurrentContext current(lt_.device());
    const OutsideCaptures outside(lt_.device().driver());  // a program's capture may forbid what it does to launch
    if (has_bias_) TRY(point_at_bias(inputs_.at(2, run)));
    const float beta = has_residual_ ? 1 : 0;
    const void* alpha = scales_input_ ? inputs_.at(scales_input_, run) : &scale_;
    const void* c = has_residual_ ? inputs_.at(3, run) : is_of_fp8_ ? nullptr : run.outputs[0];
    const LtDescriptors& d = descriptors_;
    return lt_.library().check(
        lt_.library().matmul(lt_.context(), d.product(), alpha, inputs_.at(1, run), d.first(), inputs_.at(0, run),
                             d.second(), &beta, c, d.residual(), run.outputs[0], d.result(), &choice_.algo,
                             run.workspace, static_cast<size_t>(choice_.workspace_bytes),
                             static_cast<const CudaStream&>(*run.stream).handle()),
        "a product by cuBLASLt");
  }

 private:
  Status point_at_bias(const void* bias) {
    if (bias == bias_) return {};
    TRY(lt_.library().check(
        lt_.library().matmul_desc_set_attribute(descriptors_.product(), kLtBiasPointer, &bias, sizeof bias),
        "a product's bias"));
    bias_ = bias;
    return {};
  }

  const CublasLtOnDevice& lt_;
  const StepInputs& inputs_;
  LtDescriptors descriptors_;
  const LtChoice choice_;
  const bool has_bias_, has_residual_, is_of_fp8_;
  const float scale_;          ///< of all sums
  const size_t scales_input_;  ///< the input that has the columns' scales; 0: there is one for all
  const void* bias_ = nullptr;
};

/// The plan's algorithm. If that belongs to another version or to other extents, the library's first choice.
Result<LtChoice> choose(CublasLtOnDevice& lt, const std::optional<LtAlgo>& algorithm, const LtProduct& product,
                        const LtDescriptors& descriptors) {
  if (algorithm)
    if (auto checked = lt.check(descriptors, *algorithm)) return *checked;
  const std::vector<LtChoice> choices = TRY(lt.choices(product));
  if (choices.empty())
    return error(Code::kUnsupported, "cuBLASLt ", version_text(lt.library()), " has no algorithm for ", product.batches,
                 " products of ", product.m, " x ", product.n, " x ", product.k, " in ", product.types.a,
                 "; build the engine without it (setTacticSources)");
  return choices.front();
}

/// The plan's algorithm, if it is of this version of the library.
std::optional<LtAlgo> algorithm_of(const LtTuning& tuning, const CublasLtOnDevice& lt) {
  if (tuning.version != lt.library().version) return std::nullopt;
  LtAlgo algorithm;
  std::memcpy(&algorithm, tuning.algorithm.data(), sizeof algorithm);
  return algorithm;
}

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_by_cublaslt(const steps::Epilogue& epilogue, const LtTuning& tuning,
                                                     std::optional<ops::MatrixMultiply> matrices,
                                                     const LoadArguments& arguments) {
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  const StepSpec& spec = arguments.spec;
  TRY(check_library(spec, epilogue));
  const LtProduct whole = library_product(ContractionTypes::of(spec), epilogue, tuning.tf32);  // without extents
  const std::optional<LtAlgo> algorithm = algorithm_of(tuning, lt);
  StepInputs inputs(arguments);
  TRY(put_library_bias(arguments, inputs));
  TRY(inputs.upload_rest(arguments));
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [&lt, whole, matrices, algorithm, inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    if (!matrices) TRY(check_point(shapes));
    const LtProduct product = TRY(matrices ? product_of_matrices(whole, *matrices, shapes.inputs[0], shapes.inputs[1])
                                           : product_of_points(whole, shapes.inputs[1], shapes.outputs[0]));
    if (product.m == 0 || product.n == 0 || product.batches == 0) return bound_step([](const RunArguments&) {});
    LtDescriptors descriptors = TRY(LtDescriptors::make(lt.library(), product));
    const LtChoice choice = TRY(choose(lt, algorithm, product, descriptors));
    return std::make_unique<BoundLtProduct>(lt, inputs, std::move(descriptors), choice, product);
  };
  return loaded_step(std::move(bind), packed_bytes);
}

namespace {

/// b, whose bytes are matrices' of `op`, as [n][k].
Bytes packed_columns(const HostTensor& b, const ProductOperand& of) {
  Bytes result(static_cast<size_t>(of.cols * of.rows));
  for (int64_t n = 0; n < of.cols; ++n)
    for (int64_t k = 0; k < of.rows; ++k)
      result[static_cast<size_t>(n * of.rows + k)] =
          b.bytes()[static_cast<size_t>(k * of.row_stride + n * of.col_stride)];
  return result;
}

Status check_bytes(const ContractionTypes& types, const steps::Epilogue& epilogue) {
  const bool integers = types.a == DType::kI8 && types.b == DType::kI8 && types.out == DType::kI8;
  const bool fp8 =
      types.a == DType::kF8E4M3 && types.b == types.a &&
      (types.out == types.a || (is_kernel_float(types.out) && !(types.out == DType::kF32 && epilogue.bias)));
  TRY(require(integers || fp8, "cuBLASLt makes no ", types.out, " of ", types.a, " and ", types.b,
              epilogue.bias ? " with a bias" : ""));
  const steps::Epilogue none;
  return require(
      !epilogue.hook && !epilogue.residual && epilogue.hi == none.hi && (is_relu(epilogue) || epilogue.lo == none.lo),
      "behind sums of bytes cuBLASLt has a bias and a relu, and no other epilogue");
}

/// The bias divided by y's scale, if its type has room for it.
Result<HostTensor> scaled_bias(const HostTensor& bias, double y_scale, DType type) {
  constexpr double kMostOfHalf = 65504;
  std::vector<double> numbers = View(bias).numbers();
  for (double& number : numbers) {
    number /= y_scale;
    TRY(require(std::abs(number) <= (type == DType::kF16 ? kMostOfHalf : std::numeric_limits<float>::max()),
                "a bias of ", number, " steps has no room in ", type));
  }
  return HostTensor::of(type, bias.extents(), numbers);
}

}  // namespace

Result<LtBytes> library_bytes(const ContractionTypes& types, const steps::Epilogue& epilogue,
                              const LtByteConstants& c) {
  TRY(check_bytes(types, epilogue));
  TRY(require(!c.has_zero, "cuBLASLt has no zero points"));
  const bool is_narrow = bits_of(types.out) == 8;
  TRY(require(c.x_scale && c.w_scale && (!is_narrow || c.y_scale) && (!epilogue.bias || c.bias),
              "cuBLASLt takes constant scales and a constant bias"));
  TRY(require(c.x_scale->volume() == 1 && c.w_scale->volume() > 0 && (!is_narrow || c.y_scale->volume() == 1),
              "x or y has more than one scale"));
  const double y = is_narrow ? View(*c.y_scale)[0] : 1;
  LtBytes made;
  const View w(*c.w_scale);
  for (int64_t i = 0; i < w.volume(); ++i) made.scales.push_back(static_cast<float>(w[i] * View(*c.x_scale)[0] / y));
  if (epilogue.bias) made.bias = TRY(scaled_bias(*c.bias, y, library_bias_type(types.out)));
  return made;
}

Result<std::unique_ptr<LoadedStep>> load_bytes_by_cublaslt(const steps::QuantizedMatrixMultiply& step,
                                                           const LtTuning& tuning, const LoadArguments& arguments) {
  using steps::ByteOperand;
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  const StepSpec& spec = arguments.spec;
  const auto at = [&](ByteOperand which) { return steps::input_of(which, spec.inputs.size()); };
  const auto constant = [&](ByteOperand which) { return arguments.constants[at(which)]; };
  const auto present = [&](ByteOperand which) { return spec.inputs[at(which)].present; };
  const ContractionTypes types = ContractionTypes::of(spec);
  const LtBytes bytes = TRY(library_bytes(types, step.epilogue,
                                          {.x_scale = constant(ByteOperand::kXScale),
                                           .w_scale = constant(ByteOperand::kWScale),
                                           .y_scale = constant(ByteOperand::kYScale),
                                           .bias = arguments.constants[steps::Epilogue::kBias],
                                           .has_zero = present(ByteOperand::kXZero) || present(ByteOperand::kYZero)}));
  const HostTensor* b = arguments.constants[1];
  TRY(require(b && b->rank() >= 2 && b->dtype() == types.b, "cuBLASLt multiplies bytes by a constant matrix"));
  const ProductOperand columns = right_operand(b->extents(), step.op.b);
  TRY(require(volume(columns.batch) == 1, "cuBLASLt multiplies bytes by one matrix, and b is ", b->extents()));
  const bool by_channel = bytes.scales.size() > 1;
  TRY(require(!by_channel || static_cast<int64_t>(bytes.scales.size()) == columns.cols, "b has ", bytes.scales.size(),
              " scales for ", columns.cols, " columns"));
  StepInputs inputs(arguments);
  TRY(inputs.put(1, arguments, packed_columns(*b, columns)));
  TRY(inputs.put(at(ByteOperand::kWScale), arguments, std::as_bytes(std::span(bytes.scales))));
  if (bytes.bias) TRY(inputs.put(steps::Epilogue::kBias, arguments, bytes.bias->bytes()));
  TRY(inputs.upload_rest(arguments));
  Extents packed = b->extents();
  packed[packed.size() - 2] = columns.cols, packed.back() = columns.rows;
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [&lt, whole = library_product_of_bytes(types, step.epilogue, by_channel), given = b->extents(),
               packed = std::move(packed), algorithm = algorithm_of(tuning, lt), scale = bytes.scales[0],
               scales_input = at(ByteOperand::kWScale),
               inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    TRY(require_extents(shapes.inputs[1], given, "a product's weights"));
    const LtProduct product =
        TRY(product_of_matrices(whole, {.b = ops::MatrixOp::kTranspose}, shapes.inputs[0], packed));
    if (product.m == 0 || product.n == 0) return bound_step([](const RunArguments&) {});
    LtDescriptors descriptors = TRY(LtDescriptors::make(lt.library(), product));
    const LtChoice choice = TRY(choose(lt, algorithm, product, descriptors));
    return std::make_unique<BoundLtProduct>(lt, inputs, std::move(descriptors), choice, product, scale, scales_input);
  };
  return loaded_step(std::move(bind), packed_bytes);
}

}  // namespace kiln::cuda
