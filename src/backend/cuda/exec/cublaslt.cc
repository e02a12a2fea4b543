#include "backend/cuda/exec/cublaslt.h"

#include <cstring>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/library_inputs.h"

namespace kiln::cuda {
namespace {

class BoundLtProduct final : public BoundStep {
 public:
  BoundLtProduct(const CublasLtOnDevice& lt, const StepInputs& inputs, LtDescriptors descriptors, LtChoice choice,
                 const LtProduct& product)
      : lt_(lt),
        inputs_(inputs),
        descriptors_(std::move(descriptors)),
        choice_(choice),
        has_bias_(product.bias),
        has_residual_(product.residual) {}

  int64_t workspace_bytes() const override { return choice_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, inputs_.size(), kLibraryAlignment));
    const CurrentContext current(lt_.device());
    const OutsideCaptures outside(lt_.device().driver());  // a program's capture may forbid what it does to launch
    if (has_bias_) TRY(point_at_bias(inputs_.at(2, run)));
    const float one = 1, beta = has_residual_ ? 1 : 0;
    const void* c = has_residual_ ? inputs_.at(3, run) : run.outputs[0];
    const LtDescriptors& d = descriptors_;
    return lt_.library().check(
        lt_.library().matmul(lt_.context(), d.product(), &one, inputs_.at(1, run), d.first(), inputs_.at(0, run),
                             d.second(), &beta, c, d.result(), run.outputs[0], d.result(), &choice_.algo, run.workspace,
                             static_cast<size_t>(choice_.workspace_bytes),
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
  const bool has_bias_, has_residual_;
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

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_by_cublaslt(const steps::Epilogue& epilogue, const LtTuning& tuning,
                                                     std::optional<ops::MatrixMultiply> matrices,
                                                     const LoadArguments& arguments) {
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  const StepSpec& spec = arguments.spec;
  TRY(check_library(spec, epilogue));
  const LtProduct whole = library_product(ContractionTypes::of(spec), epilogue, tuning.tf32);  // without extents
  std::optional<LtAlgo> algorithm;
  if (tuning.version == lt.library().version)
    std::memcpy(&algorithm.emplace(), tuning.algorithm.data(), sizeof(LtAlgo));
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

}  // namespace kiln::cuda
