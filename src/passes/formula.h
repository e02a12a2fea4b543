/// Patterns that read like formulas.
#pragma once

#include "ir/pattern.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/unary.h"

namespace kiln::passes::formula {

inline ir::Pattern of(ops::ElementWiseKind kind, ir::Pattern a, ir::Pattern b, std::string name) {
  return ir::exactly(ops::ElementWise{kind}, std::move(name), {std::move(a), std::move(b)});
}
inline ir::Pattern sum(ir::Pattern a, ir::Pattern b, std::string name = {}) {
  return of(ops::ElementWiseKind::kSum, std::move(a), std::move(b), std::move(name));
}
inline ir::Pattern product(ir::Pattern a, ir::Pattern b, std::string name = {}) {
  return of(ops::ElementWiseKind::kProd, std::move(a), std::move(b), std::move(name));
}
inline ir::Pattern difference(ir::Pattern a, ir::Pattern b, std::string name = {}) {
  return of(ops::ElementWiseKind::kSub, std::move(a), std::move(b), std::move(name));
}
inline ir::Pattern quotient(ir::Pattern a, ir::Pattern b, std::string name = {}) {
  return of(ops::ElementWiseKind::kDiv, std::move(a), std::move(b), std::move(name));
}
inline ir::Pattern power(ir::Pattern a, ir::Pattern b, std::string name = {}) {
  return of(ops::ElementWiseKind::kPow, std::move(a), std::move(b), std::move(name));
}
inline ir::Pattern unary(ops::UnaryKind kind, ir::Pattern x, std::string name = {}) {
  return ir::exactly(ops::Unary{kind}, std::move(name), {std::move(x)});
}
inline ir::Pattern activation(ops::ActivationKind kind, ir::Pattern x, std::string name = {}) {
  return ir::exactly(ops::Activation{kind}, std::move(name), {std::move(x)});
}

}  // namespace kiln::passes::formula
