/// The different elements of a tensor.
#include "ops/unique.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::Unique>) { return make<LayerAsIdentity<ops::Unique>>; }

}  // namespace kiln::api
