#include "api/build/layers/layers.h"

namespace kiln::api {

std::unique_ptr<Layer> make_layer(Network& network, ir::NodeId node) {
  const OpInfo* const op = &network.graph().node(node).op.info();
#define OP(name) \
  if (op == &op_info<ops::name>()) return maker_of(Tag<ops::name>())(network, node);
#include "ops/ops.def"
#undef OP
  check_failed("every op has a layer", __FILE__, __LINE__);
}

}  // namespace kiln::api
