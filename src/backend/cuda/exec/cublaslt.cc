/// Matrix products, and convolutions of one tap, by cuBLASLt.
/// Inputs: a (x), b (w), bias or absent, residual or absent.
/// Payload: transpose_a, transpose_b, point, tf32, relu; algo, the library's 64 bytes, and its version: another version
/// chooses again.
#include <cstring>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/constants.h"
#include "backend/cuda/exec/cublaslt_product.h"
#include "tensor/view.h"

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
                  Constants constants)
      : lt_(lt), step_(step), types_(types), algo_(algo), constants_(std::move(constants)) {}
  int64_t packed_bytes() const override { return constants_.packed_bytes(); }

  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    const LtProduct product = TRY(step_.product(types_, shapes.inputs, shapes.outputs[0]));
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
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_cublaslt(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(check_contraction(spec));
  TRY(require(spec.inputs.size() == kFirstEpilogueInput + EpilogueArguments::kFixed, "a product by cuBLASLt has ",
              spec.inputs.size(), " inputs"));
  CublasLtOnDevice& lt =
      TRY(in_context(arguments.device.companion<CublasLtOnDevice>(), [] { return "the plan needs cuBLASLt"; }));
  const LtStep step = TRY(LtStep::parse(spec.payload));
  const Bytes bytes = TRY(spec.payload.get_bytes("algo"));
  TRY(require(bytes.size() == sizeof(LtAlgo), "an algorithm of cuBLASLt has ", bytes.size(), " bytes"));
  std::optional<LtAlgo> algo;
  if (TRY(spec.payload.get_int("version")) == lt.library().version) std::memcpy(&algo.emplace(), bytes.data(), 64);
  const DType result = spec.outputs[0].dtype;
  const StepTensor &bias = spec.inputs[2], &residual = spec.inputs[3];
  Constants constants(spec.inputs.size());
  if (bias.present && bias.dtype != result) {
    TRY(require(arguments.constants[2] != nullptr, "a product by cuBLASLt has a bias of ", bias.dtype, " for ",
                result));
    const HostTensor& given = *arguments.constants[2];
    const HostTensor same = HostTensor::of(result, given.extents(), View(given).numbers());
    TRY(constants.put(2, arguments, same.bytes()));
  }
  TRY(constants.upload_rest(arguments));
  return std::make_unique<LoadedLtProduct>(
      lt, step, LtTypes{spec.inputs[0].dtype, result, bias.present, residual.present}, algo, std::move(constants));
}

}  // namespace kiln::cuda
