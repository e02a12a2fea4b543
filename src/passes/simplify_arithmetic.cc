#include "passes/simplify_arithmetic.h"

#include <cmath>

#include "ops/fold.h"
#include "ops/reduce.h"
#include "passes/formula.h"
#include "passes/rewrite.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using namespace formula;
using ir::any;
using ir::constant;
using ir::number;

/// 1/c, if every element of c is a power of two whose reciprocal is a normal number of the type.
std::optional<HostTensor> exact_reciprocal(const HostTensor& c) {
  if (!is_float(c.dtype()) || bits_of(c.dtype()) < 16) return std::nullopt;
  const int limit = c.dtype() == DType::kF16 ? 14 : 126;
  std::vector<double> reciprocals;
  const View view(c);
  for (int64_t i = 0; i < view.volume(); ++i) {
    int exponent = 0;
    if (std::abs(std::frexp(view[i], &exponent)) != 0.5 || std::abs(exponent - 1) > limit) return std::nullopt;
    reciprocals.push_back(1 / view[i]);
  }
  return HostTensor::of(c.dtype(), c.extents(), reciprocals);
}

/// Whether the value has no negative elements and no zeros below zero, as far as its producers tell. Fixes in `read`
/// the sources of constants whose signs it reads.
bool never_negative(const ir::Graph& graph, ir::ValueId value, FixedSources& read, int depth = 8) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone || depth == 0) return false;
  const ir::Node& node = graph.node(id);
  const auto input = [&](size_t i) { return never_negative(graph, node.inputs[i], read, depth - 1); };
  if (const HostTensor* c = graph.constant(value)) {
    const View view(*c);
    if (view.volume() > 4096) return false;
    for (int64_t i = 0; i < view.volume(); ++i)
      if (std::signbit(view[i])) return false;
    fix(read, graph.origin(value), "its signs decided a rewrite (simplify_arithmetic)");
    return true;
  }
  if (const auto* unary = node.op.as<ops::Unary>())
    return unary->kind == ops::UnaryKind::kAbs || unary->kind == ops::UnaryKind::kExp;
  if (const auto* reduce = node.op.as<ops::Reduce>())
    return reduce->kind != ops::ReduceKind::kProd && reduce->kind != ops::ReduceKind::kMin && input(0);
  const auto* op = node.op.as<ops::ElementWise>();
  if (!op) return false;
  if (op->kind == ops::ElementWiseKind::kProd && node.inputs[0] == node.inputs[1]) return true;
  return (op->kind == ops::ElementWiseKind::kSum || op->kind == ops::ElementWiseKind::kProd ||
          op->kind == ops::ElementWiseKind::kDiv) &&
         input(0) && input(1);
}

/// y becomes x where the constant did not broadcast x.
Status keep_x(const ir::Capture& found, ir::Patch& patch) {
  if (!found.type("x").same_type(found.type("y"))) return {};
  return patch.replace(found.value("y"), found.value("x"));
}
/// y becomes op(inputs) under the same condition.
Status keep_shape(const ir::Capture& found, ir::Patch& patch, Op op, std::vector<ir::ValueId> inputs) {
  if (!found.type("x").same_type(found.type("y"))) return {};
  return patch.replace(found.value("y"), TRY(patch.add(std::move(op), std::move(inputs))));
}

}  // namespace

Status simplify_arithmetic(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // the constants that decide may become others
  TRY(rewrite(graph, quotient(any("x"), constant("c"), "y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto reciprocal = exact_reciprocal(*found.constant("c"));
    if (!reciprocal) return {};
    const ops::ElementWise product{ops::ElementWiseKind::kProd};
    return patch.replace(found.value("y"),
                         TRY(patch.add(product, {found.value("x"), patch.add_constant(*reciprocal)})));
  }));
  TRY(rewrite(
      graph, difference(any("x"), constant("c"), "y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
        const HostTensor& c = *found.constant("c");
        if (!is_float(c.dtype()) || bits_of(c.dtype()) < 16 ||
            ir::uniform_constant(found.graph(), found.value("c")) == 0.0)
          return {};  // x - 0 is the rule below
        const auto& subtracted = *found.graph().producer_as<ops::Constant>(found.value("c"));
        const ir::ValueId summand = patch.add_constant(TRY(fold_one(ops::Unary{ops::UnaryKind::kNeg}, {&subtracted})));
        const ops::ElementWise sum{ops::ElementWiseKind::kSum};
        return patch.replace(found.value("y"), TRY(patch.add(sum, {found.value("x"), summand})));
      }));
  TRY(rewrite(graph, power(any("x"), number(2), "y"), [](const ir::Capture& found, ir::Patch& patch) {
    const ir::ValueId x = found.value("x");
    return keep_shape(found, patch, ops::ElementWise{ops::ElementWiseKind::kProd}, {x, x});
  }));
  TRY(rewrite(graph, power(any("x"), number(0.5), "y"), [&](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::ValueId x = found.value("x");
    FixedSources read;
    if (!is_float(found.type("x").dtype) || !never_negative(found.graph(), x, read)) return {};
    cx.fixed_sources.merge(read);
    return keep_shape(found, patch, ops::Unary{ops::UnaryKind::kSqrt}, {x});
  }));
  const auto keep = [](const ir::Capture& found, ir::Patch& patch) { return keep_x(found, patch); };
  TRY(rewrite(graph, power(any("x"), number(1), "y"), keep));
  TRY(rewrite(graph, product(any("x"), number(1), "y"), keep));
  return rewrite(graph, difference(any("x"), number(0), "y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto zero = ir::uniform_constant(found.graph(), found.node("y").inputs[1]);
    return zero && !std::signbit(*zero) ? keep_x(found, patch) : Status{};  // -0 - -0 is 0
  });
}

}  // namespace kiln::passes
