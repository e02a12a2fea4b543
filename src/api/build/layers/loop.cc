#include "ops/loop.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::Loop>) { return make<LayerAsIdentity<ops::Loop>>; }

}  // namespace kiln::api
