#include "steps/attention.h"

#include "backend/cuda/exec/constants.h"
#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/kernels/attention/attention.h"
#include "steps/attention_layout.h"

namespace kiln::cuda {
namespace {

/// Strides of the kernel, whose columns are neighbours.
HeadStrides strides_of(const AttentionOperand& operand) {
  return {operand.strides[0], operand.strides[1], operand.strides[2]};
}
int64_t size_of(const AttentionKernel& kernel) { return bits_of(kernel.element) / 8; }

/// Whether rows begin where a kernel that moves pieces of so many bytes may read them.
Status check_alignment(const AttentionLayout& layout, const AttentionKernel& kernel) {
  const int64_t whole = kernel.piece / size_of(kernel);
  TRY(require(whole > 0, "an attention kernel's pieces of ", kernel.piece, " bytes hold no whole element"));
  for (const AttentionOperand* operand : {&layout.q, &layout.k, &layout.v, &layout.out}) {
    TRY(require(operand->offset % whole == 0 && operand->strides[3] == 1, "an operand of attention begins at element ",
                operand->offset, "; its kernel reads pieces of ", whole));
    for (const int64_t stride : std::span(operand->strides).first(3))
      TRY(require(stride % whole == 0, "a stride of attention is ", stride, "; its kernel reads pieces of ", whole));
  }
  return require(layout.depth % whole == 0 && layout.value_depth % whole == 0, "heads of ", layout.depth, " and ",
                 layout.value_depth, " channels are not multiples of the kernel's pieces of ", whole);
}

class BoundAttention final : public BoundStep {
 public:
  BoundAttention(const Function& function, const Constants& constants, const AttentionKernel& kernel,
                 const AttentionLayout& layout, const AttentionArguments& arguments, const AttentionLaunch& plan)
      : function_(function),
        constants_(constants),
        element_size_(size_of(kernel)),
        by_maps_(kernel.reads_maps()),
        alignment_(by_maps_ ? 16 : kernel.piece),
        layout_(layout),
        arguments_(arguments),
        plan_(plan) {}

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, constants_.size(), alignment_));
    arguments_.q = address(constants_.at(0, run), layout_.q);
    arguments_.k = address(constants_.at(1, run), layout_.k);
    arguments_.v = address(constants_.at(2, run), layout_.v);
    arguments_.mask = address(constants_.at(3, run), layout_.mask);
    arguments_.out = static_cast<std::byte*>(run.outputs[0]) + layout_.out.offset * element_size_;
    if (!by_maps_) {
      void* pointers[] = {&arguments_};
      return launch(*run.stream, function_, plan_.shape, pointers);
    }
    if (plan_.shape.grid[0] == 0) return {};
    const void* const operands[] = {arguments_.q, arguments_.k, arguments_.v};
    for (size_t i = 0; i < 3; ++i) TRY(maps_[i].encode(function_.device().driver(), plan_.maps[i], operands[i]));
    void* pointers[] = {maps_[0].argument(), maps_[1].argument(), maps_[2].argument(), &arguments_};
    return launch(*run.stream, function_, plan_.shape, pointers);
  }

 private:
  const void* address(const void* tensor, const AttentionOperand& operand) const {
    return tensor ? static_cast<const std::byte*>(tensor) + operand.offset * element_size_ : nullptr;
  }

  const Function& function_;
  const Constants& constants_;
  const int64_t element_size_;
  const bool by_maps_;  ///< q, k and v
  const int64_t alignment_;
  AttentionLayout layout_;
  AttentionArguments arguments_;
  AttentionLaunch plan_;
  OperandMap maps_[3];
};

class LoadedAttention final : public LoadedStep {
 public:
  LoadedAttention(float scale, const AttentionKernel& kernel, std::shared_ptr<const Module> module,
                  const Function& function, Constants constants)
      : scale_(scale),
        kernel_(kernel),
        module_(std::move(module)),
        function_(function),
        constants_(std::move(constants)) {}

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const AttentionLayout layout = AttentionLayout::of(shapes.params);
    TRY(check_alignment(layout, kernel_));
    AttentionArguments a;
    a.q_strides = strides_of(layout.q);
    a.k_strides = strides_of(layout.k);
    a.v_strides = strides_of(layout.v);
    a.mask_strides = strides_of(layout.mask);
    a.out_strides = strides_of(layout.out);
    a.batch = static_cast<int32_t>(layout.batch);
    a.heads = static_cast<int32_t>(layout.heads);
    a.kv_heads = static_cast<int32_t>(std::max<int64_t>(1, layout.kv_heads));
    a.queries = static_cast<int32_t>(layout.queries);
    a.keys = static_cast<int32_t>(layout.keys);
    a.depth = static_cast<int32_t>(layout.depth);
    a.value_depth = static_cast<int32_t>(layout.value_depth);
    a.scale = scale_;
    const AttentionLaunch plan = TRY(plan_attention(kernel_, a, function_.device().properties().num_multiprocessors));
    TRY(function_.check(plan.shape));
    return std::make_unique<BoundAttention>(function_, constants_, kernel_, layout, a, plan);
  }

 private:
  float scale_;
  AttentionKernel kernel_;
  std::shared_ptr<const Module> module_;
  Function function_;
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Attention& step, const LoadArguments& arguments) {
  const AttentionKernel kernel = TRY(from_record<AttentionKernel>(arguments.spec.tuning));
  const std::vector<StepTensor>& inputs = arguments.spec.inputs;
  TRY(require(kernel.element == inputs[0].dtype && kernel.has_mask == inputs[3].present &&
                  kernel.causal == step.causal && kernel.nan_rows_are_zero == step.nan_rows_are_zero,
              "the kernel '", kernel.name(), "' does not fit its step, an attention of ", inputs[0].dtype));
  std::shared_ptr<const Module> module = TRY(StepCode::load(arguments)).shared();
  const Function function = TRY(module->function(std::string(entry_of(kernel))));
  Constants constants(inputs.size());
  TRY(constants.upload_rest(arguments));
  return std::make_unique<LoadedAttention>(static_cast<float>(step.scale), kernel, std::move(module), function,
                                           std::move(constants));
}

}  // namespace kiln::cuda
