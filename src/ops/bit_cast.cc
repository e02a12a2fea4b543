#include "ops/bit_cast.h"

#include <cstring>

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::BitCast>();

namespace ops {

Status BitCast::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(bits_of(to) >= 8 && to != DType::kBool, "BitCast gives no ", to));
  TRY(cx.require(bits_of(x.dtype) == bits_of(to), "x is ", x, ", whose elements have ", bits_of(x.dtype), " bits; ", to,
                 " has ", bits_of(to)));
  return cx.set_output(0, TensorType(to, x.shape));
}

Status BitCast::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  if (x.volume()) std::memcpy(y.data(), x.data(), static_cast<size_t>(size_bytes(x.dtype(), x.volume())));
  return {};
}

}  // namespace ops
}  // namespace kiln
