/// The different elements of a tensor, which only the parser asks for: to a program a layer without settings, as an
/// identity is.
#include "ops/unique.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::Unique>) {
  return make<LayerOf<ops::Unique, nv::LayerType::kIDENTITY, nv::IIdentityLayer, nv::apiv::VIdentityLayer>>;
}

}  // namespace kiln::api
