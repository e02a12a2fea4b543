/// An element's bits as another type; the API has no layer for it.
#include "ops/bit_cast.h"

#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::BitCast>) { return make<LayerAsIdentity<ops::BitCast>>; }

}  // namespace kiln::api
