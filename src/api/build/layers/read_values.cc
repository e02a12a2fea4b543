/// Numbers of data that shapes are made of: the parser makes it where a shape needs them.
#include "ops/read_values.h"

#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::ReadValues>) { return make<LayerAsIdentity<ops::ReadValues>>; }

}  // namespace kiln::api
