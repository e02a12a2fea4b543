#include "backend/cuda/tactics/registry.h"

namespace kiln {
namespace ops {
#define OP(name) struct name;
#include "ops/ops.def"
#undef OP
}  // namespace ops

namespace cuda {

#define OP(name) \
  template <>    \
  TacticList tactics_of<ops::name>();
#include "ops/ops.def"
#undef OP

TacticList tactics_for(const OpInfo& op) {
#define OP(name) \
  if (&op == &op_info<ops::name>()) return tactics_of<ops::name>();
#include "ops/ops.def"
#undef OP
  return {};
}

}  // namespace cuda
}  // namespace kiln
