/// A recurrent network, which only the parser makes. The API has loops of several layers in its place: to a program it
/// is a layer without settings of its own, as an identity is.
#include "ops/recurrence.h"
#include "api/build/layers/layers.h"

namespace kiln::api {

MakeLayer maker_of(Tag<ops::Recurrence>) {
  return make<LayerOf<ops::Recurrence, nv::LayerType::kIDENTITY, nv::IIdentityLayer, nv::apiv::VIdentityLayer>>;
}

}  // namespace kiln::api
