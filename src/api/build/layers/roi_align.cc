/// Regions of an image.
#include "ops/roi_align.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::RoiAlign>) { return make<LayerAsIdentity<ops::RoiAlign>>; }

}  // namespace kiln::api
