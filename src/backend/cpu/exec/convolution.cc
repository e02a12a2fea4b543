#include "steps/convolution.h"

#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/conv/channels_last.h"
#include "backend/cpu/kernels/conv/family.h"
#include "steps/by_function.h"
#include "steps/packs_constants.h"

namespace kiln::cpu {
namespace {

/// A step and how it runs.
struct Plan {
  steps::Convolution step;
  const ConvFamily* family;
  bool channels_first;     ///< x
  bool to_channels_first;  ///< the result, which is copied from the workspace

  /// The convolution by weights `w`. Fails unless the family computes it.
  Result<ConvProblem> problem(const Extents& w) const {
    TRY(step.window.check_filter(w, step.groups, w.empty() ? 0 : w[0], w.size() > 1 ? w[1] * step.groups : 0));
    const ConvProblem problem{step.window, ConvWeights::of(w, step.groups), step.epilogue.residual.has_value()};
    const bool reads = input(problem) == ConvInput::kChannelsLast || (family->picture_channels > 0 && step.groups == 1);
    TRY(require(reads && family->serves(problem), "the convolution's kernel does not take weights ", w, " in ",
                step.groups, " groups, or it does not take the input's format"));
    return problem;
  }
  ConvInput input(const ConvProblem& problem) const {
    return channels_first && problem.weights.ic > 1 ? ConvInput::kChannelsFirst : ConvInput::kChannelsLast;
  }
};

class LoadedConvolution final : public PacksConstants {
 public:
  LoadedConvolution(Plan plan, std::optional<LoadedHook> hook, Team& team)
      : plan_(std::move(plan)), hook_(std::move(hook)), team_(team) {}

  Status pack_weights(const HostTensor& w) {
    packed_extents_ = w.extents();
    packed_ = TRY(plan_.family->pack(TRY(plan_.problem(packed_extents_)), w.data<float>()));
    return {};
  }
  int64_t packed_bytes() const override { return packed_ ? 4 * packed_->num_floats : 0; }
  ConstantUse constant_use(int input) const override {
    if (input != 1 || !packed_) return ConstantUse::kRead;
    return packed_->unpack ? ConstantUse::kPacked : ConstantUse::kRounded;
  }
  void unpack(int, std::span<std::byte> into) const override { packed_->unpack(reinterpret_cast<float*>(into.data())); }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& w = shapes.inputs[1];
    const ConvProblem problem = TRY(plan_.problem(w));
    if (packed_) TRY(require_extents(w, packed_extents_, "a convolution's weights"));
    ConvShape shape;
    shape.n = shapes.inputs[0][0];
    shape.window = plan_.step.window.bind<Window>(shapes.inputs[0], shapes.outputs[0]);
    shape.input = plan_.input(problem);
    const auto run = [this, problem, shape, extras = std::vector<NestTile::Extra>(hook_ ? hook_->num_operands() : 0)](
                         const RunArguments& run) mutable { return this->run(problem, shape, extras, run); };
    const int64_t bytes = copies_result(problem, shape) ? kernel_bytes(problem, shape) + 4 * num_results(problem, shape)
                                                        : own_bytes(problem, shape);
    return bound_step(run, bytes);
  }

 private:
  Status run(const ConvProblem& problem, const ConvShape& shape, std::span<NestTile::Extra> extras,
             const RunArguments& arguments) const {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    PackedFilter fresh;  // of weights computed at run time
    if (!packed_) fresh = TRY(plan_.family->pack(problem, input(1)));
    const RunEpilogue epilogue(plan_.step.epilogue, hook_ ? &*hook_ : nullptr, extras, arguments.inputs,
                               problem.weights.oc);
    auto* const out = static_cast<float*>(arguments.outputs[0]);
    const bool copies = copies_result(problem, shape);
    float* const last = copies ? reinterpret_cast<float*>(arguments.workspace + kernel_bytes(problem, shape)) : out;
    (packed_ ? *packed_ : fresh).run(team_, shape, input(0), last, epilogue.get(), arguments.workspace);
    if (copies) copy_to_channels_first(problem, shape, last, out);
    return {};
  }

  /// The size of the kernel's own workspace.
  int64_t own_bytes(const ConvProblem& problem, const ConvShape& shape) const {
    return plan_.family->workspace_bytes(shape, problem.weights, team_.size());
  }
  /// The same where the result lies behind it, aligned.
  int64_t kernel_bytes(const ConvProblem& problem, const ConvShape& shape) const {
    return round_up(own_bytes(problem, shape), kCacheLine);
  }
  /// Whether the result's order is not the kernel's.
  bool copies_result(const ConvProblem& problem, const ConvShape& shape) const {
    return plan_.to_channels_first && problem.weights.oc > 1 && shape.window.out_pixels() > 1;
  }
  static int64_t num_results(const ConvProblem& problem, const ConvShape& shape) {
    return shape.n * shape.window.out_pixels() * problem.weights.oc;
  }
  /// [n, pixels, oc] to [n, oc, pixels]: what brings pixels before channels brings channels before pixels as well.
  void copy_to_channels_first(const ConvProblem& problem, const ConvShape& shape, const float* last, float* out) const {
    constexpr int64_t kStrip = 16;
    const int64_t pixels = shape.window.out_pixels(), channels = problem.weights.oc;
    const int64_t strips = ceil_div(channels, kStrip);
    team_.run(shape.n * strips, [&](int64_t part, int) {
      const int64_t image = part / strips * channels * pixels, begin = part % strips * kStrip;
      to_channels_last(last + image, channels, pixels, begin, std::min(channels, begin + kStrip), out + image);
    });
  }

  Plan plan_;
  std::optional<LoadedHook> hook_;
  Team& team_;
  std::optional<PackedFilter> packed_;
  Extents packed_extents_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Convolution& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_types(spec, DType::kF32, steps::Epilogue::kHook));
  TRY(require(!step.joined, "the convolution joins two inputs; no CPU kernel does that"));
  const ConvTuning tuning = TRY(from_record<ConvTuning>(spec.tuning));
  auto loaded = std::make_unique<LoadedConvolution>(
      Plan{step, tuning.family, spec.inputs[0].format.is_linear(), spec.outputs[0].format.is_linear()},
      TRY(LoadedHook::load(step.epilogue)), arguments.team);
  if (const HostTensor* w = arguments.constants[1]) TRY(loaded->pack_weights(*w));
  return loaded;
}

}  // namespace kiln::cpu
