#include "backend/cuda/exec/weight_only_product.h"

#include <algorithm>

#include "backend/cuda/exec/gemm_step.h"
#include "steps/weight_only_product.h"

namespace kiln::cuda {
namespace {

using steps::WeightOperand;

/// The extents that weights and scales were packed in.
struct PackedExtents {
  Extents weights, scales;
  steps::WeightScales layout;
  ProductOperand matrix() const { return right_operand(weights, op); }
  ops::MatrixOp op;
  size_t scale_at;

  Status require(const StepShapes& shapes) const {
    TRY(require_extents(shapes.inputs[1], weights, "quantized weights"));
    return require_extents(shapes.inputs[scale_at], scales, "scales");
  }
};

/// Puts weights, scales and zero points as the kernels read them.
Result<PackedExtents> pack(const steps::WeightOnlyProduct& step, const LoadArguments& arguments, StepInputs& inputs) {
  const StepSpec& spec = arguments.spec;
  const size_t scale_at = steps::input_of(WeightOperand::kScale, spec.inputs.size()),
               zero_at = steps::input_of(WeightOperand::kZero, spec.inputs.size());
  const HostTensor *b = arguments.constants[1], *scale = arguments.constants[scale_at],
                   *zero = arguments.constants[zero_at];
  TRY(require(b && scale && (zero || !spec.inputs[zero_at].present),
              "a product by quantized weights has weights, scales or zero points that are computed; its kernel packs "
              "constants"));
  PackedExtents packed{b->extents(), scale->extents(),
                       TRY(steps::weight_scales(step.op.b, b->extents(), scale->extents())), step.op.b, scale_at};
  if (zero) TRY(require_extents(zero->extents(), scale->extents(), "zero points"));
  const ProductOperand matrix = packed.matrix();
  WeightMatrix from;
  from.data = b->bytes(), from.scales = scale->bytes();
  if (zero) from.zeros = zero->bytes();
  from.types = WeightOnlyTypes::of(spec);
  from.k = matrix.rows, from.n = matrix.cols;
  from.k_stride = matrix.row_stride, from.n_stride = matrix.col_stride;
  from.layout = packed.layout;
  const PackedWeights bytes = pack_weights(from);
  TRY(inputs.put(1, arguments, bytes.weights));
  TRY(inputs.put(scale_at, arguments, bytes.scales));
  if (from.types.has_zeros) TRY(inputs.put(zero_at, arguments, bytes.zeros));
  return packed;
}

Result<WeightOnlyArguments> arguments_of(const PackedExtents& packed, const StepShapes& shapes) {
  TRY(packed.require(shapes));
  const ProductOperand matrix = packed.matrix();
  const Extents& a = shapes.inputs[0];
  const int64_t m = volume(std::span(a).first(a.size() - 1));
  constexpr int64_t kMost = int64_t{1} << 30;
  TRY(require(m < kMost && matrix.rows < kMost && matrix.cols < kMost, "a product of ", m, " x ", matrix.cols, " x ",
              matrix.rows, " exceeds the kernels' limit of 2^30"));
  WeightOnlyArguments g;
  g.a_row = matrix.rows;
  g.m = static_cast<int32_t>(m), g.n = static_cast<int32_t>(matrix.cols), g.k = static_cast<int32_t>(matrix.rows);
  g.block = static_cast<int32_t>(packed.layout.block);
  g.blocks = static_cast<int32_t>(matrix.rows / packed.layout.block);
  return g;
}

/// Sets the weights' addresses at run.
void set_weights(WeightOnlyArguments& arguments, const StepInputs& inputs, const RunArguments& run) {
  const size_t count = inputs.size();
  arguments.weights = static_cast<const unsigned char*>(inputs.at(1, run));
  arguments.scales = inputs.at(steps::input_of(WeightOperand::kScale, count), run);
  arguments.zeros = static_cast<const unsigned char*>(inputs.at(steps::input_of(WeightOperand::kZero, count), run));
}

BindResult bind_rows(const WeightOnlyRows& kernel, const Function& function, const StepInputs& inputs,
                     const PackedExtents& packed, const StepShapes& shapes) {
  WeightOnlyArguments arguments = TRY(arguments_of(packed, shapes));
  const LaunchShape shape = TRY(plan_rows(kernel, arguments, function.device().properties().shared_bytes_per_block));
  TRY(function.check(shape));
  TRY(function.allow_shared(shape));
  const auto run = [&inputs, function, arguments, shape](const RunArguments& now) mutable -> Status {
    TRY(require_aligned(now, inputs.size(), 16));
    arguments.a = inputs.at(0, now);
    arguments.c = now.outputs[0];
    set_weights(arguments, inputs, now);
    for (size_t i = steps::Epilogue::kBias; i + steps::kWeightOperands < inputs.size(); ++i)
      arguments.epilogue.operand[i - steps::Epilogue::kBias] = inputs.at(i, now);
    void* pointers[] = {&arguments};
    return launch(*now.stream, function, shape, pointers);
  };
  return bound_step(run);
}

LoadResult load_rows(const steps::WeightOnlyProduct& step, const WeightOnlyRows& kernel,
                     const LoadArguments& arguments) {
  TRY(require(kernel.types == WeightOnlyTypes::of(arguments.spec), "the kernel '", kernel.name(),
              "' is of other types than its step"));
  const StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(kWeightOnlyRows));
  StepInputs inputs(arguments);
  PackedExtents packed = TRY(pack(step, arguments, inputs));
  TRY(inputs.upload_rest(arguments));
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [kernel, function, module = code.shared(), inputs = std::move(inputs),
               packed = std::move(packed)](const StepShapes& shapes) -> BindResult {
    return bind_rows(kernel, function, inputs, packed, shapes);
  };
  return loaded_step(std::move(bind), packed_bytes);
}

/// The step of a product of floats that one by quantized weights is, once they are floats.
struct FloatStep {
  StepSpec spec;
  std::vector<const HostTensor*> constants;

  explicit FloatStep(const LoadArguments& arguments) : spec(arguments.spec) {
    constants.assign(arguments.constants.begin(), arguments.constants.end());
    constants.resize(constants.size() - steps::kWeightOperands);
    spec.inputs.resize(constants.size());
    constants[1] = nullptr;
    spec.inputs[1].dtype = spec.inputs[0].dtype;
  }
};

constexpr int64_t kVector = 8;  // elements: columns of weights that are floats lie in whole ones of them

/// A product of floats whose b is made in its workspace, before it.
class BoundExpanded final : public BoundStep {
 public:
  struct Parts {
    WeightOnlyArguments arguments;
    LaunchShape shape;
    Function expand;
    std::unique_ptr<BoundStep> product;
    int64_t weights_bytes;
  };
  BoundExpanded(const StepInputs& inputs, Parts parts)
      : inputs_(inputs), parts_(std::move(parts)), product_inputs_(inputs.size() - steps::kWeightOperands) {}

  int64_t workspace_bytes() const override { return parts_.weights_bytes + parts_.product->workspace_bytes(); }

  Status run(const RunArguments& now) override {
    WeightOnlyArguments& arguments = parts_.arguments;
    set_weights(arguments, inputs_, now);
    arguments.c = now.workspace;
    void* pointers[] = {&arguments};
    TRY(launch(*now.stream, parts_.expand, parts_.shape, pointers));
    std::copy_n(now.inputs, product_inputs_.size(), product_inputs_.begin());
    product_inputs_[1] = now.workspace;
    RunArguments product = now;
    product.inputs = product_inputs_.data();
    product.workspace = now.workspace + parts_.weights_bytes;
    return parts_.product->run(product);
  }

 private:
  const StepInputs& inputs_;
  Parts parts_;
  std::vector<const void*> product_inputs_;
};

/// All that is loaded of such a step.
struct LoadedExpanded {
  LoadedGemm gemm;
  Function expand;
  StepInputs inputs;
  ContractionInputs of_product;
  PackedExtents packed;
  WeightOnlyTypes types;

  BindResult bind(const StepShapes& shapes) const {
    BoundExpanded::Parts parts{TRY(arguments_of(packed, shapes)), {}, expand, nullptr, 0};
    WeightOnlyArguments& g = parts.arguments;
    g.pitch = static_cast<int32_t>((int64_t{g.k} + kVector - 1) / kVector * kVector);
    parts.shape = TRY(plan_expand(types, g));
    TRY(expand.check(parts.shape));
    constexpr int64_t kAlignment = 256;
    const int64_t bytes = int64_t{g.pitch} * g.n * (bits_of(types.a) / 8);
    parts.weights_bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    GemmArguments product;
    product.m = g.m, product.n = g.n, product.k = g.k;
    product.a_row = g.k, product.a_k = 1;
    product.b_column = g.pitch, product.b_k = 1;
    product.c_row = g.n;
    parts.product = TRY(bind_gemm(gemm, of_product, product));
    return std::make_unique<BoundExpanded>(inputs, std::move(parts));
  }
};

LoadResult load_expanded(const steps::WeightOnlyProduct& step, const GemmKernel& kernel,
                         const LoadArguments& arguments) {
  const FloatStep floats(arguments);
  const LoadArguments of_product{floats.spec, floats.constants, arguments.device};
  LoadedGemm gemm = TRY(LoadedGemm::load(kernel, of_product));
  const Function expand = TRY(gemm.module->function(kExpandWeights));
  StepInputs inputs(arguments);
  PackedExtents packed = TRY(pack(step, arguments, inputs));
  ContractionInputs product_inputs(of_product);
  TRY(product_inputs.upload_rest(of_product));
  LoadedExpanded loaded{std::move(gemm),   expand,
                        std::move(inputs), std::move(product_inputs),
                        std::move(packed), WeightOnlyTypes::of(arguments.spec)};
  const int64_t packed_bytes = loaded.inputs.packed_bytes() + loaded.of_product.packed_bytes();
  auto bind = [loaded = std::move(loaded)](const StepShapes& shapes) { return loaded.bind(shapes); };
  return loaded_step(std::move(bind), packed_bytes);
}

}  // namespace

LoadResult load(const steps::WeightOnlyProduct& step, const LoadArguments& arguments) {
  const WeightOnlyTuning tuning = TRY(from_record<WeightOnlyTuning>(arguments.spec.tuning));
  TRY(validate(step.epilogue));
  TRY(WeightOnlyTypes::of(arguments.spec).check());
  return tuning.rows ? load_rows(step, *tuning.rows, arguments) : load_expanded(step, *tuning.expanded, arguments);
}

}  // namespace kiln::cuda
