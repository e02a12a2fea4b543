#include "tensor/tensor_type.h"

namespace kiln {

sym::Expr TensorType::volume() const {
  sym::Expr result = 1;
  for (const sym::Expr& e : shape) result = result * e;
  return result;
}

bool TensorType::is_static() const {
  for (const sym::Expr& e : shape)
    if (!e.is_const()) return false;
  return true;
}

Result<Extents> TensorType::extents() const {
  if (!is_static()) return error(Code::kInvalidArgument, "the shape of ", *this, " is not known at build time");
  return opt_extents();
}

Extents TensorType::max_extents() const {
  Extents result;
  for (const sym::Expr& e : shape) result.push_back(e.max());
  return result;
}

Extents TensorType::opt_extents() const {
  Extents result;
  for (const sym::Expr& e : shape) result.push_back(e.opt());
  return result;
}

void append(std::string& out, const TensorType& type) {
  append(out, type.dtype);
  append(out, type.shape);
}

TensorType tensor_type(DType dtype, std::span<const int64_t> extents) {
  return {dtype, Shape(extents.begin(), extents.end())};
}

}  // namespace kiln
