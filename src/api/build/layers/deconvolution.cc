#include "ops/deconvolution.h"

#include "api/build/layers/filter_layer.h"

namespace kiln::api {
namespace {

/// [channels, outputs / groups, kernel...]
struct Axes {
  static Extents extents(int64_t count, int64_t outputs, int64_t groups, const Extents& kernel) {
    const int64_t per_channel = elements_per_channel(outputs / groups, kernel);
    if (per_channel == 0 || outputs % groups != 0 || count % per_channel != 0) return {};
    Extents result{count / per_channel, outputs / groups};
    result.insert(result.end(), kernel.begin(), kernel.end());
    return result;
  }
  static int64_t outputs(const Extents& shape, int64_t groups) { return shape.size() < 2 ? 0 : shape[1] * groups; }
};

using DeconvolutionLayer = FilterLayer<ops::Deconvolution, Axes, nv::LayerType::kDECONVOLUTION, nv::IDeconvolutionLayer,
                                       nv::apiv::VDeconvolutionLayer>;

}  // namespace

Result<nv::IDeconvolutionLayer*> add_deconvolution(Network& network, nv::ITensor& input, int64_t num_output_maps,
                                                   const nv::Dims& kernel_size, nv::Weights kernel, nv::Weights bias) {
  const ir::ValueId x = TRY(network.value_of(input, "input"));
  const ops::Deconvolution op{.kernel = TRY(check_filter(network, x, num_output_maps, kernel_size))};
  TRY(check_filter_weights(kernel, bias, num_output_maps, volume(op.kernel)));
  auto* const layer = TRY(network.add<DeconvolutionLayer>(op, {x, ir::ValueId::kNone}, Settings::kToCome));
  TRY(layer->start(num_output_maps, kernel, bias));
  return layer;
}

MakeLayer maker_of(Tag<ops::Deconvolution>) { return make<DeconvolutionLayer>; }

}  // namespace kiln::api
