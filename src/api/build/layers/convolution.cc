#include "ops/convolution.h"

#include "api/build/layers/filter_layer.h"

namespace kiln::api {
namespace {

/// [outputs, channels / groups, kernel...]
struct Axes {
  static Extents extents(int64_t count, int64_t outputs, int64_t, const Extents& kernel) {
    const int64_t per_channel = elements_per_channel(outputs, kernel);
    if (per_channel == 0 || count % per_channel != 0) return {};
    Extents result{outputs, count / per_channel};
    result.insert(result.end(), kernel.begin(), kernel.end());
    return result;
  }
  static int64_t outputs(const Extents& shape, int64_t) { return shape.empty() ? 0 : shape[0]; }
};

using ConvolutionLayer = FilterLayer<ops::Convolution, Axes, nv::LayerType::kCONVOLUTION, nv::IConvolutionLayer,
                                     nv::apiv::VConvolutionLayer>;

}  // namespace

Result<nv::IConvolutionLayer*> add_convolution(Network& network, nv::ITensor& input, int64_t num_output_maps,
                                               const nv::Dims& kernel_size, nv::Weights kernel, nv::Weights bias) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Convolution op{.kernel = TRY(check_filter(network, x, num_output_maps, kernel_size))};
  TRY(check_filter_weights(kernel, bias, num_output_maps, num_output_maps * volume(op.kernel)));
  auto* const layer = TRY(network.add<ConvolutionLayer>(op, {x, ir::ValueId::kNone}, Settings::kToCome));
  TRY(layer->start(num_output_maps, kernel, bias));
  return layer;
}

MakeLayer maker_of(Tag<ops::Convolution>) { return make<ConvolutionLayer>; }

}  // namespace kiln::api
