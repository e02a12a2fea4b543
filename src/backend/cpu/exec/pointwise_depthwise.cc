#include "steps/pointwise_depthwise.h"

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/depthwise/behind_pointwise.h"
#include "steps/by_function.h"
#include "steps/packs_constants.h"

namespace kiln::cpu {
namespace {

/// A convolution's hook, and its operands in one run.
struct Hook {
  std::optional<LoadedHook> loaded;
  const LoadedHook* get() const { return loaded ? &*loaded : nullptr; }
  std::vector<NestTile::Extra> extras() const {
    return std::vector<NestTile::Extra>(loaded ? loaded->num_operands() : 0);
  }
};

class LoadedPointwiseDepthwise final : public PacksConstants {
 public:
  LoadedPointwiseDepthwise(steps::PointwiseDepthwise step, Team& team)
      : step_(std::move(step)), second_w_(static_cast<int>(step_.second_w())), team_(team) {}

  Status load(const HostTensor& first, const HostTensor& second) {
    inner_.loaded = TRY(LoadedHook::load(step_.pointwise.epilogue));
    outer_.loaded = TRY(LoadedHook::load(step_.depthwise.epilogue));
    first_extents_ = first.extents(), second_extents_ = second.extents();
    TRY(require(first_extents_.size() == 4 && second_extents_.size() == 4,
                "two convolutions in one step are of two axes, not by ", first_extents_, " and ", second_extents_));
    TRY(step_.pointwise.window.check_filter(first_extents_, 1, first_extents_[0], first_extents_[1]));
    TRY(step_.depthwise.window.check_filter(second_extents_, step_.depthwise.groups, first_extents_[0],
                                            first_extents_[0]));
    TRY(require(second_extents_[1] == 1, "weights ", second_extents_, " are not those of a depthwise convolution"));
    pointwise_ = TRY(pack_conv(ConvWeights::of(first_extents_, 1), first.data<float>()));
    depthwise_ = TRY(pack_depthwise(ConvWeights::of(second_extents_, step_.depthwise.groups), second.data<float>()));
    return {};
  }

  int64_t packed_bytes() const override { return 4 * (pointwise_.num_floats() + depthwise_.num_floats()); }
  ConstantUse constant_use(int input) const override {
    return input == 1 ? ConstantUse::kPacked : input == second_w_ ? ConstantUse::kRounded : ConstantUse::kRead;
  }
  void unpack(int, std::span<std::byte> into) const override {
    pointwise_.unpack(reinterpret_cast<float*>(into.data()));
  }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_extents(shapes.inputs[1], first_extents_, "a convolution's weights"));
    TRY(require_extents(shapes.inputs[step_.second_w()], second_extents_, "a convolution's weights"));
    Extents between = shapes.inputs[0];
    between[1] = first_extents_[0];
    ConvShape shape;
    shape.n = between[0];
    shape.window = step_.depthwise.window.bind<Window>(between, shapes.outputs[0]);
    TRY(require(takes_rows_of(shape.window), "a depthwise convolution by ", second_extents_, " behind another, over ",
                between, ", is larger than kernels take"));
    const auto run = [this, shape, inner_extras = inner_.extras(),
                      outer_extras = outer_.extras()](const RunArguments& arguments) mutable {
      const RunEpilogue inner(step_.pointwise.epilogue, inner_.get(), inner_extras, arguments.inputs,
                              first_extents_[0]);
      // The depthwise convolution's own inputs, as if what lies between were the first of them.
      const RunEpilogue outer(step_.depthwise.epilogue, outer_.get(), outer_extras, arguments.inputs + second_w_ - 1,
                              first_extents_[0]);
      pointwise_depthwise(team_, {shape, pointwise_, inner.get(), depthwise_, outer.get()},
                          static_cast<const float*>(arguments.inputs[0]), static_cast<float*>(arguments.outputs[0]),
                          arguments.workspace);
    };
    return bound_step(run, pointwise_depthwise_workspace_bytes(shape, team_.size()));
  }

 private:
  steps::PointwiseDepthwise step_;
  int second_w_;
  Team& team_;
  Hook inner_, outer_;
  PackedConv pointwise_;
  PackedDepthwise depthwise_;
  Extents first_extents_, second_extents_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::PointwiseDepthwise& step, const LoadArguments& arguments) {
  const HostTensor *const first = arguments.constants[1], *const second = arguments.constants[step.second_w()];
  TRY(require_types(arguments.spec, DType::kF32, steps::Epilogue::kHook));
  TRY(require(first && second, "the weights of two convolutions in one step are no constants"));
  TRY(require(second->dtype() == DType::kF32, "a depthwise convolution behind another has weights of ",
              second->dtype()));
  for (const steps::Convolution* convolution : {&step.pointwise, &step.depthwise}) {
    const DType bias = convolution->epilogue.bias.value_or(DType::kF32);
    TRY(require(bias == DType::kF32, "one of two convolutions in one step has a bias of ", bias, "; f32 is needed"));
  }
  auto loaded = std::make_unique<LoadedPointwiseDepthwise>(step, arguments.team);
  TRY(loaded->load(*first, *second));
  return loaded;
}

}  // namespace kiln::cpu
