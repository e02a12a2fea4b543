/// Regions of an image, which only the parser makes. The API has no such layer: to a program it is one without settings
/// of its own, as an identity is.
#include "ops/roi_align.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::RoiAlign>) {
  return make<LayerOf<ops::RoiAlign, nv::LayerType::kIDENTITY, nv::IIdentityLayer, nv::apiv::VIdentityLayer>>;
}

}  // namespace kiln::api
