#include "steps/quantized_convolution.h"

#include "backend/cpu/exec/byte_operands.h"

namespace kiln::cpu {
namespace {

class LoadedQuantizedConvolution final : public LoadedBytes {
 public:
  LoadedQuantizedConvolution(const steps::QuantizedConvolution& step, std::optional<LoadedHook> hook,
                             const LoadArguments& arguments)
      : LoadedBytes(arguments.spec, step.epilogue, std::move(hook), arguments.team),
        window_(step.window),
        is_depthwise_(step.is_depthwise) {}

  Status pack_weights(const HostTensor& w) {
    const int64_t all = w.rank() > 0 ? w.extents()[0] : 0, of_group = w.rank() > 1 ? w.extents()[1] : 0;
    TRY(window_.check_filter(w.extents(), is_depthwise_ ? all : 1, all, is_depthwise_ ? all : of_group));
    const int64_t taps = volume(window_.kernel), channels = w.extents()[1], columns = w.extents()[0];
    if (is_depthwise_) return pack(w, {nullptr, 1, taps}, taps, columns, 1);
    const int64_t row = window_.kernel.back();
    const auto window = window_.bind<Window>({}, {});
    taps_ = byte_taps(window, channels);
    if (taps_ == Taps::kPixels)
      TRY(pack(w, {nullptr, taps, channels * taps, 1}, channels, columns, taps));
    else
      TRY(pack(w, {nullptr, taps, channels * taps, row, channels, 1}, channels * row, columns, taps / row));
    return transform(window, channels);
  }
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_packed(shapes.inputs[1]));
    const Extents& x = shapes.inputs[0];
    return bind_shape({x[0], window_.bind<Window>(x, shapes.outputs[0]), taps_, is_depthwise_}, shapes);
  }

 private:
  const steps::Window window_;
  const bool is_depthwise_;
  Taps taps_ = Taps::kPixels;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::QuantizedConvolution& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_integers(spec));
  const Format last = Format::channels_last(spec.inputs[0].rank);
  TRY(require(spec.inputs[0].format == last && spec.outputs[0].format == last, "a convolution of bytes reads format ",
              spec.inputs[0].format, " and makes ", spec.outputs[0].format, "; its kernel has ", last));
  TRY(require(arguments.constants[1],
              "a convolution of bytes has weights that are computed; its kernel packs constants"));
  auto loaded = std::make_unique<LoadedQuantizedConvolution>(step, TRY(LoadedHook::load(step.epilogue)), arguments);
  TRY(loaded->pack_weights(*arguments.constants[1]));
  return loaded;
}

}  // namespace kiln::cpu
