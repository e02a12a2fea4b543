#include "ops/constant.h"

#include <cstring>

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Constant>();

namespace ops {

Status Constant::infer(InferContext& cx) const { return cx.set_output(0, type_of(value)); }

Status Constant::reference(ReferenceContext& cx) const {
  const MutableView y = TRY(cx.output(0));
  if (!value.bytes().empty()) std::memcpy(y.data(), value.bytes().data(), value.bytes().size());
  return {};
}

}  // namespace ops
}  // namespace kiln
