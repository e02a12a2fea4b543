#include "steps/convolution.h"

#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/conv/banded.h"
#include "backend/cpu/kernels/conv/conv.h"
#include "backend/cpu/kernels/conv/tuning.h"
#include "backend/cpu/kernels/depthwise/depthwise.h"
#include "backend/cpu/kernels/gemm/unpack.h"
#include "backend/cpu/kernels/winograd/winograd.h"
#include "steps/packs_constants.h"

namespace kiln::cpu {
namespace {

/// Weights packed for one family; the others stay empty.
struct Packed {
  PackedConv direct;
  PackedBanded banded;
  PackedWinograd winograd;
  PackedDepthwise depthwise;
};

/// A step and how it runs.
struct Plan {
  steps::Convolution step;
  ConvFamily family;
  bool channels_first;  ///< x
};

/// Whether the family computes a convolution by such weights.
Status check_weights(const Plan& plan, const Extents& w) {
  const steps::Window& window = plan.step.window;
  const int64_t groups = plan.step.groups;
  TRY(window.check_filter(w, groups, w.empty() ? 0 : w[0], w.size() > 1 ? w[1] * groups : 0));
  const auto all = [](const Extents& extents, int64_t value) {
    return std::ranges::all_of(extents, [=](int64_t extent) { return extent == value; });
  };
  bool serves = false;
  switch (plan.family) {
    case ConvFamily::kDirect: serves = !plan.channels_first || groups == 1; break;
    case ConvFamily::kBanded:
      serves = groups == 1 && window.dilations.back() == 1 && !plan.step.epilogue.residual;
      break;
    case ConvFamily::kWinograd:
      serves = groups == 1 && winograd_serves(window.kernel) && all(window.strides, 1) && all(window.dilations, 1);
      break;
    case ConvFamily::kDepthwise: serves = groups == w[0] && w[1] == 1; break;
  }
  const bool reads = plan.family == ConvFamily::kDirect || !plan.channels_first || w[1] * groups == 1;
  return require(serves && reads, "the convolution's kernel does not take weights ", w, " in ", groups,
                 " groups, or it does not take the input's format");
}

ConvWeights weights_of(int64_t groups, std::span<const int64_t> w) {
  ConvWeights weights{w[1] * groups, w[0], groups, {1, 1, 1}};
  const size_t axes = w.size() - 2;
  for (size_t i = 0; i < axes; ++i) weights.kernel[3 - axes + i] = w[2 + i];
  return weights;
}

Result<Packed> pack(const Plan& plan, const ConvWeights& weights, const float* data) {
  Packed packed;
  switch (plan.family) {
    case ConvFamily::kDirect: packed.direct = TRY(pack_conv(weights, data)); break;
    case ConvFamily::kBanded: packed.banded = TRY(pack_banded(weights, plan.step.window.strides.back(), data)); break;
    case ConvFamily::kWinograd: packed.winograd = TRY(pack_winograd(weights, data)); break;
    case ConvFamily::kDepthwise: packed.depthwise = TRY(pack_depthwise(weights.oc, weights.kernel, data)); break;
  }
  return packed;
}

class BoundConvolution final : public BoundStep {
 public:
  BoundConvolution(const Plan& plan, const ConvWeights& weights, const Packed* packed, const LoadedHook* hook,
                   Team& team, const StepShapes& shapes)
      : plan_(plan),
        weights_(weights),
        packed_(packed),
        hook_(hook),
        team_(team),
        extras_(hook ? hook->num_operands() : 0) {
    shape_.n = shapes.inputs[0][0];
    shape_.window = plan.step.window.bind<Window>(shapes.inputs[0], shapes.outputs[0]);
    shape_.input = plan.channels_first && weights.ic > 1 ? ConvInput::kChannelsFirst : ConvInput::kChannelsLast;
  }

  int64_t workspace_bytes() const override {
    switch (plan_.family) {
      case ConvFamily::kDirect: return conv_workspace_bytes(shape_, weights_, team_.size());
      case ConvFamily::kBanded: return banded_workspace_bytes(shape_, weights_, team_.size());
      case ConvFamily::kWinograd: return winograd_workspace_bytes(shape_, weights_.ic, weights_.oc, team_.size());
      case ConvFamily::kDepthwise: break;
    }
    return 0;
  }

  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    auto* out = static_cast<float*>(arguments.outputs[0]);
    Packed fresh;
    if (!packed_) fresh = TRY(pack(plan_, weights_, input(1)));  // weights computed at run time
    const Packed& packed = packed_ ? *packed_ : fresh;
    const steps::Epilogue& behind = plan_.step.epilogue;
    Epilogue epilogue{input(2), input(3), weights_.oc, static_cast<float>(behind.lo), static_cast<float>(behind.hi),
                      nullptr};
    NestTile tile{};
    TileHook hook{};
    if (hook_) {
      tile = hook_->tile(arguments.inputs, extras_, weights_.oc);
      hook = tile.hook();
      epilogue.hook = &hook;
    }
    switch (plan_.family) {
      case ConvFamily::kDirect: conv(team_, shape_, input(0), packed.direct, out, epilogue, arguments.workspace); break;
      case ConvFamily::kBanded:
        banded(team_, shape_, input(0), packed.banded, out, epilogue, arguments.workspace);
        break;
      case ConvFamily::kWinograd:
        winograd(team_, shape_, input(0), packed.winograd, out, epilogue, arguments.workspace);
        break;
      case ConvFamily::kDepthwise:
        depthwise(team_, {shape_.n, shape_.window, 0, 0}, input(0), packed.depthwise, out, epilogue);
        break;
    }
    return {};
  }

 private:
  const Plan& plan_;
  ConvWeights weights_;
  const Packed* packed_;
  const LoadedHook* hook_;
  Team& team_;
  std::vector<NestTile::Extra> extras_;
  ConvShape shape_;
};

class LoadedConvolution final : public PacksConstants {
 public:
  LoadedConvolution(Plan plan, std::optional<LoadedHook> hook, Team& team)
      : plan_(std::move(plan)), hook_(std::move(hook)), team_(team) {}

  Status pack_weights(const HostTensor& w) {
    TRY(check_weights(plan_, w.extents()));
    packed_extents_ = w.extents();
    packed_ = std::make_unique<Packed>(TRY(pack(plan_, weights_of(plan_.step.groups, w.extents()), w.data<float>())));
    return {};
  }
  int64_t packed_bytes() const override {
    if (!packed_) return 0;
    return 4 * (packed_->direct.b.data.size() + packed_->banded.band.data.size() + packed_->banded.exact.data.size() +
                packed_->winograd.b.data.size() + packed_->depthwise.data.size());
  }
  ConstantUse constant_use(int input) const override {
    if (input != 1 || !packed_) return ConstantUse::kRead;
    return plan_.family == ConvFamily::kDirect ? ConstantUse::kPacked : ConstantUse::kRounded;
  }
  void unpack(int, std::span<std::byte> into) const override {
    const PackedB& b = packed_->direct.b;  // as pack_conv packs it
    unpack_b(b, {nullptr, b.taps, b.k * b.taps, 1}, b.n * b.k * b.taps, reinterpret_cast<float*>(into.data()));
  }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& w = shapes.inputs[1];
    TRY(check_weights(plan_, w));
    if (packed_) TRY(require_extents(w, packed_extents_, "a convolution's weights"));
    return std::make_unique<BoundConvolution>(plan_, weights_of(plan_.step.groups, w), packed_.get(),
                                              hook_ ? &*hook_ : nullptr, team_, shapes);
  }

 private:
  Plan plan_;
  std::optional<LoadedHook> hook_;
  Team& team_;
  std::unique_ptr<Packed> packed_;
  Extents packed_extents_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Convolution& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_types(spec, DType::kF32, steps::Epilogue::kHook));
  TRY(require(!step.joined, "the convolution joins two inputs; no CPU kernel does that"));
  const ConvTuning tuning = TRY(from_record<ConvTuning>(spec.tuning));
  auto loaded = std::make_unique<LoadedConvolution>(Plan{step, tuning.family, spec.inputs[0].format.is_linear()},
                                                    TRY(LoadedHook::load(step.epilogue)), arguments.team);
  if (const HostTensor* w = arguments.constants[1]) TRY(loaded->pack_weights(*w));
  return loaded;
}

}  // namespace kiln::cpu
