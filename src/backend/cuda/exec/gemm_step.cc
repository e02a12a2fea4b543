#include "backend/cuda/exec/gemm_step.h"

namespace kiln::cuda {
namespace {

class BoundGemm final : public BoundStep {
 public:
  BoundGemm(const LoadedGemm& gemm, const Constants& constants, const GemmArguments& arguments, const GemmLaunch& plan)
      : gemm_(gemm), constants_(constants), arguments_(arguments), plan_(plan), vectors_(plan.reduce_vectors) {}

  int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

  Status run(const RunArguments& run) override {
    arguments_.a = constants_.at(0, run);
    arguments_.b = constants_.at(1, run);
    arguments_.c = run.outputs[0];
    arguments_.partial = reinterpret_cast<float*>(run.workspace);
    set_operands(arguments_.epilogue, constants_, run);
    void* pointers[] = {&arguments_, &vectors_};
    TRY(launch(*run.stream, gemm_.main, plan_.main, pointers));
    return vectors_ ? launch(*run.stream, *gemm_.reduce, plan_.reduce, pointers) : Status();
  }

 private:
  const LoadedGemm& gemm_;
  const Constants& constants_;
  GemmArguments arguments_;
  GemmLaunch plan_;
  long long vectors_;
};

}  // namespace

Result<LoadedGemm> LoadedGemm::load(const Record& record, const LoadArguments& arguments) {
  const GemmKernel kernel = TRY(GemmKernel::parse(record));
  std::shared_ptr<const Module> module = TRY(arguments.device.load(arguments.spec.binary));
  const Function main = TRY(module->function(source_of(kernel, {}).entry));
  std::optional<Function> reduce;
  if (kernel.splits > 1) reduce = TRY(module->function(kGemmReduce));
  return LoadedGemm{kernel, std::move(module), main, reduce};
}

Result<std::unique_ptr<BoundStep>> bind_gemm(const LoadedGemm& gemm, const Constants& constants,
                                             const GemmArguments& arguments) {
  GemmArguments set = arguments;
  const GemmLaunch plan = TRY(plan_gemm(gemm.kernel, set));
  return std::make_unique<BoundGemm>(gemm, constants, set, plan);
}

}  // namespace kiln::cuda
