#include "backend/cuda/exec/cublaslt.h"

#include <cstring>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/library_inputs.h"

namespace kiln::cuda {
namespace {

class BoundLtProduct final : public BoundStep {
 public:
  BoundLtProduct(const CublasLtOnDevice& lt, const Constants& constants, LtDescriptors descriptors, LtChoice choice,
                 const LtProduct& product)
      : lt_(lt),
        constants_(constants),
        descriptors_(std::move(descriptors)),
        choice_(choice),
        has_bias_(product.bias),
        has_residual_(product.residual) {}

  int64_t workspace_bytes() const override { return choice_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, constants_.size(), kLibraryAlignment));
    const CurrentContext current(lt_.device());
    const OutsideCaptures outside(lt_.device().driver());  // a program's capture may forbid what it does to launch
    if (has_bias_) TRY(point_at_bias(constants_.at(2, run)));
    const float one = 1, beta = has_residual_ ? 1 : 0;
    const void* c = has_residual_ ? constants_.at(3, run) : run.outputs[0];
    const LtDescriptors& d = descriptors_;
    return lt_.library().check(
        lt_.library().matmul(lt_.context(), d.product(), &one, constants_.at(1, run), d.first(), constants_.at(0, run),
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
  const Constants& constants_;
  LtDescriptors descriptors_;
  const LtChoice choice_;
  const bool has_bias_, has_residual_;
  const void* bias_ = nullptr;
};

/// A product whose result has no elements.
class NoProduct final : public BoundStep {
  Status run(const RunArguments&) override { return {}; }
};

class LoadedLtProduct final : public LoadedStep {
 public:
  /// Loads a product of matrices, or of the points of a convolution.
  LoadedLtProduct(CublasLtOnDevice& lt, const LtProduct& product, std::optional<ops::MatrixMultiply> matrices,
                  std::optional<LtAlgo> algorithm, Constants constants)
      : lt_(lt), product_(product), matrices_(matrices), algorithm_(algorithm), constants_(std::move(constants)) {}
  int64_t packed_bytes() const override { return constants_.packed_bytes(); }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    if (!matrices_) TRY(check_point(shapes));
    const LtProduct product =
        TRY(matrices_ ? product_of_matrices(product_, *matrices_, shapes.inputs[0], shapes.inputs[1])
                      : product_of_points(product_, shapes.inputs[1], shapes.outputs[0]));
    if (product.m == 0 || product.n == 0 || product.batches == 0) return std::make_unique<NoProduct>();
    LtDescriptors descriptors = TRY(LtDescriptors::make(lt_.library(), product));
    const LtChoice choice = TRY(choose(product, descriptors));
    return std::make_unique<BoundLtProduct>(lt_, constants_, std::move(descriptors), choice, product);
  }

 private:
  /// The plan's algorithm. If that belongs to another version or to other extents, the library's first choice.
  Result<LtChoice> choose(const LtProduct& product, const LtDescriptors& descriptors) const {
    if (algorithm_)
      if (auto checked = lt_.check(descriptors, *algorithm_)) return *checked;
    const std::vector<LtChoice> choices = TRY(lt_.choices(product));
    if (choices.empty())
      return error(Code::kUnsupported, "cuBLASLt ", version_text(lt_.library()), " has no algorithm for ",
                   product.batches, " products of ", product.m, " x ", product.n, " x ", product.k, " in ",
                   product.types.a, "; build the engine without it (setTacticSources)");
    return choices.front();
  }

  CublasLtOnDevice& lt_;
  const LtProduct product_;  ///< without extents
  const std::optional<ops::MatrixMultiply> matrices_;
  const std::optional<LtAlgo> algorithm_;
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_by_cublaslt(const steps::Epilogue& epilogue, const LtTuning& tuning,
                                                     std::optional<ops::MatrixMultiply> matrices,
                                                     const LoadArguments& arguments) {
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  const StepSpec& spec = arguments.spec;
  TRY(check_library(spec, epilogue));
  const LtProduct product = library_product(ContractionTypes::of(spec), epilogue, tuning.tf32);
  std::optional<LtAlgo> algorithm;
  if (tuning.version == lt.library().version)
    std::memcpy(&algorithm.emplace(), tuning.algorithm.data(), sizeof(LtAlgo));
  Constants constants(spec.inputs.size());
  TRY(put_library_bias(arguments, constants));
  TRY(constants.upload_rest(arguments));
  return std::make_unique<LoadedLtProduct>(lt, product, matrices, algorithm, std::move(constants));
}

}  // namespace kiln::cuda
