#include "backend/cuda/exec/gemm_step.h"

namespace kiln::cuda {
namespace {

class BoundGemm final : public BoundStep {
 public:
  BoundGemm(const LoadedGemm& gemm, const ContractionInputs& inputs, const GemmArguments& arguments,
            const GemmLaunch& plan)
      : gemm_(gemm),
        inputs_(inputs),
        arguments_(arguments),
        plan_(plan),
        alignment_(alignment_of(gemm.kernel)),
        vectors_(plan.reduce_vectors) {}

  int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, inputs_.size(), alignment_));
    arguments_.a = inputs_.at(0, run);
    arguments_.b = inputs_.at(1, run);
    arguments_.c = run.outputs[0];
    arguments_.partial = reinterpret_cast<float*>(run.workspace);
    set_operands(arguments_.epilogue, inputs_, run);
    if (gemm_.kernel.reads_maps()) return run_with_maps(*run.stream);
    void* pointers[] = {&arguments_, &vectors_};
    TRY(launch(*run.stream, gemm_.main, plan_.main, pointers));
    return vectors_ ? launch(*run.stream, *gemm_.reduce, plan_.reduce, pointers) : Status();
  }

 private:
  Status run_with_maps(const Stream& stream) {
    if (plan_.main.grid[0] == 0) return {};
    const Driver& driver = gemm_.main.device().driver();
    TRY(map_a_.encode(driver, plan_.map_a, arguments_.a));
    TRY(map_b_.encode(driver, plan_.map_b, arguments_.b));
    void* pointers[] = {map_a_.argument(), map_b_.argument(), &arguments_,
                        &plan_.batches};  // gemm_small does not take the last
    return launch(stream, gemm_.main, plan_.main, pointers);
  }

  const LoadedGemm& gemm_;
  const ContractionInputs& inputs_;
  GemmArguments arguments_;
  GemmLaunch plan_;
  int64_t alignment_;
  long long vectors_;
  OperandMap map_a_, map_b_;
};

}  // namespace

Result<LoadedGemm> LoadedGemm::load(const GemmKernel& kernel, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require(kernel.types == ContractionTypes::of(spec), "the kernel '", kernel.name(), "' makes no ",
              spec.outputs[0].dtype, " of ", spec.inputs[0].dtype, " and ", spec.inputs[1].dtype));
  std::shared_ptr<const Module> module = TRY(StepCode::load(arguments)).shared();
  const Function main = TRY(module->function(std::string(entry_of(kernel))));
  std::optional<Function> reduce;
  if (kernel.sums_parts()) reduce = TRY(module->function(kGemmReduce));
  return LoadedGemm{kernel, std::move(module), main, reduce};
}

Result<std::unique_ptr<BoundStep>> bind_gemm(const LoadedGemm& gemm, const ContractionInputs& inputs,
                                             const GemmArguments& arguments) {
  GemmArguments set = arguments;
  const GemmLaunch plan = TRY(plan_gemm(gemm.kernel, set, gemm.main.device().properties().num_multiprocessors));
  TRY(gemm.main.check(plan.main));
  if (plan.reduce_vectors) TRY(gemm.main.check(plan.reduce));
  return std::make_unique<BoundGemm>(gemm, inputs, set, plan);
}

}  // namespace kiln::cuda
