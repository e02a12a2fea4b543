/// A convolution with bias, residual and clamp, channels last.
/// Inputs: x, w, bias or absent, residual or absent, operands of the hook. Payload: the window, groups, family, lo, hi,
/// hook (optional).
#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/hook.h"
#include "backend/cpu/exec/window.h"
#include "backend/cpu/kernels/conv/banded.h"
#include "backend/cpu/kernels/conv/conv.h"
#include "backend/cpu/kernels/depthwise/depthwise.h"
#include "backend/cpu/kernels/winograd/winograd.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {
namespace {

constexpr size_t kFixedInputs = 4;  // before the hook's operands

enum class Family : uint8_t { kDirect, kBanded, kWinograd, kDepthwise };

Result<Family> family_named(std::string_view name) {
  if (name == "direct") return Family::kDirect;
  if (name == "banded") return Family::kBanded;
  if (name == "winograd") return Family::kWinograd;
  if (name == "depthwise") return Family::kDepthwise;
  return error(Code::kCorrupt, "no convolution family is called '", name, "'");
}

/// Weights packed for one family; the others stay empty.
struct Packed {
  PackedConv direct;
  PackedBanded banded;
  PackedWinograd winograd;
  PackedDepthwise depthwise;
};

struct Attributes {
  WindowSpec window;
  int64_t groups = 1;
  Family family = Family::kDirect;
  float lo = 0, hi = 0;
  bool channels_first = false;
};

Result<Attributes> parse(const StepSpec& spec) {
  Attributes a;
  a.window = TRY(WindowSpec::parse(spec.payload));
  a.groups = TRY(spec.payload.get_int("groups"));
  a.family = TRY(family_named(TRY(spec.payload.get_text("family"))));
  a.lo = static_cast<float>(TRY(spec.payload.get_double("lo")));
  a.hi = static_cast<float>(TRY(spec.payload.get_double("hi")));
  a.channels_first = spec.inputs[0].format.is_linear();
  TRY(require(a.family != Family::kBanded || !spec.inputs[3].present, "a banded convolution has a residual"));
  return a;
}

/// Whether weights of these extents, and the family, are those of the step.
Status check_weights(const Attributes& a, const Extents& w) {
  const Extents& kernel = a.window.kernel;
  TRY(require(w.size() == kernel.size() + 2 && std::equal(kernel.begin(), kernel.end(), w.begin() + 2) &&
                  a.groups >= 1 && a.groups <= w[0] && w[0] % a.groups == 0,
              "a convolution by ", kernel, " in ", a.groups, " groups has weights ", w));
  const auto all = [](const Extents& extents, int64_t value) {
    return std::ranges::all_of(extents, [=](int64_t extent) { return extent == value; });
  };
  bool serves = false;
  switch (a.family) {
    case Family::kDirect: serves = !a.channels_first || a.groups == 1; break;
    case Family::kBanded: serves = a.groups == 1 && a.window.dilations.back() == 1; break;
    case Family::kWinograd:
      serves = a.groups == 1 && kernel == Extents{3, 3} && all(a.window.strides, 1) && all(a.window.dilations, 1);
      break;
    case Family::kDepthwise: serves = a.groups == w[0] && w[1] == 1; break;
  }
  const bool reads = a.family == Family::kDirect || !a.channels_first || w[1] * a.groups == 1;
  return require(serves && reads, "a family of convolutions that does not take weights ", w, " in ", a.groups,
                 " groups, or the input's format");
}

ConvWeights weights_of(const Attributes& a, std::span<const int64_t> w) {
  ConvWeights weights{w[1] * a.groups, w[0], a.groups, {1, 1, 1}};
  const size_t axes = w.size() - 2;
  for (size_t i = 0; i < axes; ++i) weights.kernel[3 - axes + i] = w[2 + i];
  return weights;
}

Result<Packed> pack(const Attributes& a, const ConvWeights& weights, const float* data) {
  Packed packed;
  switch (a.family) {
    case Family::kDirect: packed.direct = TRY(pack_conv(weights, data)); break;
    case Family::kBanded: packed.banded = TRY(pack_banded(weights, a.window.strides.back(), data)); break;
    case Family::kWinograd: packed.winograd = TRY(pack_winograd(weights.ic, weights.oc, data)); break;
    case Family::kDepthwise: packed.depthwise = TRY(pack_depthwise(weights.oc, weights.kernel, data)); break;
  }
  return packed;
}

class BoundConvolution final : public BoundStep {
 public:
  BoundConvolution(const Attributes& a, const ConvWeights& weights, const Packed* packed, const LoadedHook* hook,
                   Team& team, const StepShapes& shapes)
      : a_(a), weights_(weights), packed_(packed), hook_(hook), team_(team), extras_(hook ? hook->num_operands() : 0) {
    shape_.n = shapes.inputs[0][0];
    shape_.window = a.window.bind(shapes.inputs[0], shapes.outputs[0]);
    shape_.input = a.channels_first && weights.ic > 1 ? ConvInput::kChannelsFirst : ConvInput::kChannelsLast;
  }

  int64_t workspace_bytes() const override {
    switch (a_.family) {
      case Family::kDirect: return conv_workspace_bytes(shape_, weights_, team_.size());
      case Family::kBanded: return banded_workspace_bytes(shape_, weights_, team_.size());
      case Family::kWinograd: return winograd_workspace_bytes(shape_, weights_.ic, weights_.oc, team_.size());
      case Family::kDepthwise: break;
    }
    return 0;
  }

  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    auto* out = static_cast<float*>(arguments.outputs[0]);
    Packed fresh;
    if (!packed_) fresh = TRY(pack(a_, weights_, input(1)));  // weights computed at run time
    const Packed& packed = packed_ ? *packed_ : fresh;
    Epilogue epilogue{input(2), input(3), weights_.oc, a_.lo, a_.hi, nullptr};
    NestTile tile{};
    TileHook hook{};
    if (hook_) {
      tile = hook_->tile(arguments.inputs, extras_, weights_.oc);
      hook = tile.hook();
      epilogue.hook = &hook;
    }
    switch (a_.family) {
      case Family::kDirect: conv(team_, shape_, input(0), packed.direct, out, epilogue, arguments.workspace); break;
      case Family::kBanded: banded(team_, shape_, input(0), packed.banded, out, epilogue, arguments.workspace); break;
      case Family::kWinograd:
        winograd(team_, shape_, input(0), packed.winograd, out, epilogue, arguments.workspace);
        break;
      case Family::kDepthwise:
        depthwise(team_, {shape_.n, shape_.window, 0, 0}, input(0), packed.depthwise, out, epilogue);
        break;
    }
    return {};
  }

 private:
  const Attributes& a_;
  ConvWeights weights_;
  const Packed* packed_;
  const LoadedHook* hook_;
  Team& team_;
  std::vector<NestTile::Extra> extras_;
  ConvShape shape_;
};

class LoadedConvolution final : public LoadedStep {
 public:
  LoadedConvolution(Attributes a, StepSpec spec, Team& team) : a_(std::move(a)), spec_(std::move(spec)), team_(team) {}

  Status pack_weights(const HostTensor& w) {
    TRY(check_weights(a_, w.extents()));
    packed_extents_ = w.extents();
    packed_ = std::make_unique<Packed>(TRY(pack(a_, weights_of(a_, w.extents()), w.data<float>())));
    return {};
  }
  Status load_hook(const StepSpec& spec) {
    hook_ =
        std::make_unique<LoadedHook>(TRY(LoadedHook::load(TRY(spec.payload.get_record("hook")), spec, kFixedInputs)));
    return {};
  }
  int64_t packed_bytes() const override {
    if (!packed_) return 0;
    return 4 * (packed_->direct.b.data.size() + packed_->banded.band.data.size() + packed_->banded.exact.data.size() +
                packed_->winograd.b.data.size() + packed_->depthwise.data.size());
  }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &w = shapes.inputs[1], &y = shapes.outputs[0];
    TRY(check_weights(a_, w));
    if (packed_) TRY(require_extents(w, packed_extents_, "a convolution's weights"));
    TRY(a_.window.check(x, y));
    TRY(require(x[1] == w[1] * a_.groups && y[1] == w[0], "a convolution of ", x, " by ", w, " to ", y));
    TRY(require_epilogue(spec_, shapes, w[0], hook_.get()));
    return std::make_unique<BoundConvolution>(a_, weights_of(a_, shapes.inputs[1]), packed_.get(), hook_.get(), team_,
                                              shapes);
  }

 private:
  Attributes a_;
  StepSpec spec_;
  Team& team_;
  std::unique_ptr<Packed> packed_;
  Extents packed_extents_;
  std::unique_ptr<LoadedHook> hook_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_convolution(const LoadArguments& arguments) {
  TRY(require_types(arguments.spec, DType::kF32, kFixedInputs));
  auto loaded = std::make_unique<LoadedConvolution>(TRY(parse(arguments.spec)), arguments.spec, arguments.team);
  TRY(require_linear(arguments.spec, 1));
  if (const HostTensor* w = arguments.constants[1]) TRY(loaded->pack_weights(*w));
  if (arguments.spec.payload.find("hook")) TRY(loaded->load_hook(arguments.spec));
  return loaded;
}

}  // namespace kiln::cpu
