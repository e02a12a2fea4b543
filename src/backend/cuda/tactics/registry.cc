#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {

template <>
TacticList tactics_of<AnyPointwise>();
#define OP(name) \
  template <>    \
  TacticList tactics_of<ops::name>();
#include "ops/ops.def"
#undef OP

TacticList tactics_for(const OpInfo& op) {
  return list_by_op(op, []<class T>() { return tactics_of<T>(); });
}

}  // namespace kiln::cuda
