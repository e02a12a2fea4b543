/// softmax(q k^T * scale + mask) v of row-major tensors with their axes in any order, but for the last of each, its
/// channels or, of the mask, its keys.
/// Inputs: q, k, v, mask or absent. Payload: q, k, v, out (each the stored axes of [batch, head, row, column], of
/// [batch, row, column] where there are no heads), scale, nan_rows_are_zero, attention (a kernel).
#include "backend/cuda/kernels/attention/attention.h"

#include "backend/cuda/exec/gemm_step.h"
#include "ops/transpose.h"

namespace kiln::cuda {
namespace {

using Axes = std::vector<int64_t>;

struct Attributes {
  Axes q, k, v, out;
  float scale = 1;
};

/// A tensor's extents and strides as [batch, head, row, column]. What has one index repeats.
struct HeadView {
  int64_t batch, heads, rows, columns;
  HeadStrides strides;

  HeadView(const Axes& axes, const Extents& extents) {
    Extents sizes, steps;
    for (const int64_t axis : axes) {
      const auto at = static_cast<size_t>(axis);
      sizes.push_back(extents[at]);
      steps.push_back(extents[at] == 1 ? 0 : volume(std::span(extents).subspan(at + 1)));
    }
    if (axes.size() == 3) sizes.insert(sizes.begin() + 1, 1), steps.insert(steps.begin() + 1, 0);
    batch = sizes[0], heads = sizes[1], rows = sizes[2], columns = sizes[3];
    strides = {steps[0], steps[1], steps[2]};
  }
};

Axes in_order(size_t rank) { return rank == 4 ? Axes{0, 1, 2, 3} : Axes{0, 1, 2}; }

class BoundAttention final : public BoundStep {
 public:
  BoundAttention(const Function& function, const Constants& constants, const AttentionArguments& arguments,
                 const AttentionLaunch& plan)
      : function_(function), constants_(constants), arguments_(arguments), plan_(plan) {}

  Status run(const RunArguments& run) override {
    arguments_.q = constants_.at(0, run);
    arguments_.k = constants_.at(1, run);
    arguments_.v = constants_.at(2, run);
    arguments_.mask = constants_.at(3, run);
    arguments_.out = run.outputs[0];
    if (plan_.maps[0].rank != 4) {
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
  const Function& function_;
  const Constants& constants_;
  AttentionArguments arguments_;
  AttentionLaunch plan_;
  OperandMap maps_[3];
};

class LoadedAttention final : public LoadedStep {
 public:
  LoadedAttention(Attributes a, const AttentionKernel& kernel, std::shared_ptr<const Module> module,
                  const Function& function, Constants constants)
      : a_(std::move(a)),
        kernel_(kernel),
        module_(std::move(module)),
        function_(function),
        constants_(std::move(constants)) {}

  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    TRY(require(shapes.outputs[0].size() == a_.out.size(), "attention makes ", shapes.outputs[0],
                ": the plan is damaged, build it again"));
    const HeadView q(a_.q, shapes.inputs[0]), k(a_.k, shapes.inputs[1]), v(a_.v, shapes.inputs[2]);
    const HeadView out(a_.out, shapes.outputs[0]);
    AttentionArguments a;
    a.q_strides = q.strides;
    a.k_strides = k.strides;
    a.v_strides = v.strides;
    a.out_strides = out.strides;
    if (kernel_.has_mask) a.mask_strides = HeadView(in_order(a_.q.size()), shapes.inputs[3]).strides;
    const auto fits = [&](const HeadView& view) {
      return (view.batch == 1 || view.batch == out.batch) && (view.heads == 1 || view.heads == out.heads);
    };
    TRY(require(fits(q) && fits(k) && fits(v) && q.rows == out.rows && k.columns == q.columns && v.rows == k.rows &&
                    v.columns == out.columns,
                "attention of ", shapes.inputs[0], " to ", shapes.inputs[1], " and ", shapes.inputs[2], " makes ",
                shapes.outputs[0], ": the plan is damaged, build it again"));
    for (const int64_t extent : {out.batch, out.heads, out.rows, k.rows, q.columns, out.columns})
      TRY(require(extent < (int64_t{1} << 30), "an extent of attention is ", extent, "; kernels count to 2^30"));
    a.batch = static_cast<int32_t>(out.batch);
    a.heads = static_cast<int32_t>(out.heads);
    a.kv_heads = a.heads ? a.heads : 1;  // a stride of 0 repeats where k or v has one head
    a.queries = static_cast<int32_t>(out.rows);
    a.keys = static_cast<int32_t>(k.rows);
    a.depth = static_cast<int32_t>(q.columns);
    a.value_depth = static_cast<int32_t>(out.columns);
    a.scale = a_.scale;
    const AttentionLaunch plan = TRY(plan_attention(kernel_, a, function_.device().properties().num_multiprocessors));
    TRY(function_.check(plan.shape));
    return std::make_unique<BoundAttention>(function_, constants_, a, plan);
  }

 private:
  Attributes a_;
  AttentionKernel kernel_;
  std::shared_ptr<const Module> module_;
  Function function_;
  Constants constants_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_attention(const LoadArguments& arguments) {
  const Record& p = arguments.spec.payload;
  TRY(require(arguments.spec.inputs.size() == 4 && arguments.spec.outputs.size() == 1, "an attention step has ",
              arguments.spec.inputs.size(), " inputs; it takes 4"));
  Attributes a{TRY(p.get_ints("q")), TRY(p.get_ints("k")), TRY(p.get_ints("v")), TRY(p.get_ints("out"))};
  const int rank = static_cast<int>(a.q.size());
  TRY(require(rank == 3 || rank == 4, "attention of ", rank, " axes; it has 3 or 4"));
  for (const Axes* axes : {&a.q, &a.k, &a.v, &a.out}) {
    TRY(require_permutation(*axes, rank));
    TRY(require(axes->back() == rank - 1, "an operand's channels do not come last"));
  }
  for (const StepTensor& t : arguments.spec.inputs)
    TRY(require(!t.present || t.rank == rank, "an operand of attention has rank ", t.rank, ", not ", rank));
  a.scale = static_cast<float>(TRY(p.get_double("scale")));
  const AttentionKernel kernel = TRY(AttentionKernel::parse(TRY(p.get_record("attention"))));
  TRY(require(kernel.has_mask == arguments.spec.inputs[3].present, "an attention step's mask is not its kernel's"));
  std::shared_ptr<const Module> module = TRY(StepCode::load(arguments)).shared();
  const Function function = TRY(module->function(std::string(entry_of(kernel))));
  Constants constants(arguments.spec.inputs.size());
  TRY(constants.upload_rest(arguments));
  return std::make_unique<LoadedAttention>(std::move(a), kernel, std::move(module), function, std::move(constants));
}

}  // namespace kiln::cuda
