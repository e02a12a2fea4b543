/// A recurrent network: the API has loops of several layers in its place.
#include "ops/recurrence.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::Recurrence>) { return make<LayerAsIdentity<ops::Recurrence>>; }

}  // namespace kiln::api
