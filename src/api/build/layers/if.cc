#include "ops/if.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::If>) { return make<LayerAsIdentity<ops::If>>; }

}  // namespace kiln::api
