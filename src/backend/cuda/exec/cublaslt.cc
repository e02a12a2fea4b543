/// Matrix products, and convolutions of one tap, by cuBLASLt.
/// Inputs: a (x), b (w), bias or absent, residual or absent.
/// Payload: transpose_a, transpose_b, point, tf32, relu, epilogue (what it reads); algo, the library's 64 bytes, and
/// its version: another version chooses again.
#include <cstring>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/library_inputs.h"
#include "steps/product_shapes.h"

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

/// No element of the result is there.
class NoProduct final : public BoundStep {
  Status run(const RunArguments&) override { return {}; }
};

class LoadedLtProduct final : public LoadedStep {
 public:
  LoadedLtProduct(CublasLtOnDevice& lt, const LtStep& step, const LtTypes& types, std::optional<LtAlgo> algo,
                  EpilogueInputs epilogue, Constants constants)
      : lt_(lt),
        step_(step),
        types_(types),
        algo_(algo),
        epilogue_(std::move(epilogue)),
        constants_(std::move(constants)) {}
  int64_t packed_bytes() const override { return constants_.packed_bytes(); }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(step_.point ? check_point(shapes) : check_product({step_.transpose_a, step_.transpose_b}, shapes));
    const LtProduct product = TRY(step_.product(types_, shapes.inputs, shapes.outputs[0]));
    TRY(epilogue_.check(shapes, product.n));
    if (product.m == 0 || product.n == 0 || product.batches == 0) return std::make_unique<NoProduct>();
    LtDescriptors descriptors = TRY(LtDescriptors::make(lt_.library(), product));
    const LtChoice choice = TRY(choose(product, descriptors));
    return std::make_unique<BoundLtProduct>(lt_, constants_, std::move(descriptors), choice, product);
  }

 private:
  /// The plan's algorithm, or where that is of another version or for other extents, the library's first.
  Result<LtChoice> choose(const LtProduct& product, const LtDescriptors& descriptors) const {
    if (algo_)
      if (auto checked = lt_.check(descriptors, *algo_)) return *checked;
    const std::vector<LtChoice> choices = TRY(lt_.choices(product));
    if (choices.empty())
      return error(Code::kUnsupported, "cuBLASLt ", version_text(lt_.library()), " has no algorithm for ",
                   product.batches, " products of ", product.m, " x ", product.n, " x ", product.k, " in ",
                   product.operand, "; build the engine without it (setTacticSources)");
    return choices.front();
  }

  CublasLtOnDevice& lt_;
  LtStep step_;
  LtTypes types_;
  std::optional<LtAlgo> algo_;
  EpilogueInputs epilogue_;
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_cublaslt(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  EpilogueInputs epilogue = TRY(load_library_inputs(spec));
  const LtStep step = TRY(LtStep::parse(spec.payload));
  const Bytes bytes = TRY(spec.payload.get_bytes("algo"));
  TRY(require(bytes.size() == sizeof(LtAlgo), "an algorithm of cuBLASLt has ", bytes.size(), " bytes"));
  std::optional<LtAlgo> algo;
  if (TRY(spec.payload.get_int("version")) == lt.library().version) std::memcpy(&algo.emplace(), bytes.data(), 64);
  Constants constants(spec.inputs.size());
  TRY(put_library_bias(arguments, constants));
  TRY(constants.upload_rest(arguments));
  const LtTypes types{spec.inputs[0].dtype, spec.outputs[0].dtype, spec.inputs[2].present, spec.inputs[3].present};
  return std::make_unique<LoadedLtProduct>(lt, step, types, algo, std::move(epilogue), std::move(constants));
}

}  // namespace kiln::cuda
