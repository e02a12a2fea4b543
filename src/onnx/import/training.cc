/// Adagrad, Adam and Momentum of ai.onnx.preview.training: one step of an optimizer, which is arithmetic like any
/// other.
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers::training {
namespace {

using enum ElementWiseKind;

Result<ValueId> plus(ImportContext& cx, ValueId a, ValueId b) { return binary(cx, kSum, a, b); }
Result<ValueId> minus(ImportContext& cx, ValueId a, ValueId b) { return binary(cx, kSub, a, b); }
template <class B>
Result<ValueId> times(ImportContext& cx, ValueId a, B b) {
  return binary(cx, kProd, a, b);
}

/// The tensors that are optimized: inputs 2 and on are all of them, then all gradients, then each kind of state.
struct Optimized {
  size_t count;
  size_t input(size_t kind, size_t tensor) const { return 2 + kind * count + tensor; }
};
Result<Optimized> optimized(ImportContext& cx, size_t kinds) {
  TRY(require(cx.num_inputs() > 2 && (cx.num_inputs() - 2) % kinds == 0, "has ", cx.num_inputs(), " inputs; two, and ",
              kinds, " for each tensor, are needed"));
  return Optimized{(cx.num_inputs() - 2) / kinds};
}

/// norm_coefficient * x + g
Result<ValueId> regularized(ImportContext& cx, ValueId x, ValueId gradient) {
  const float coefficient = TRY(cx.node().get_float("norm_coefficient", 0));
  return coefficient == 0 ? gradient : plus(cx, TRY(times(cx, x, coefficient)), gradient);
}
Result<ValueId> step_number(ImportContext& cx, ValueId like) { return cast(cx, TRY(cx.input(1)), cx.dtype(like)); }
/// `first` in the step of number 0, else `later`.
Result<ValueId> unless_first(ImportContext& cx, ValueId step, ValueId later, ValueId first) {
  return select(cx, TRY(binary(cx, kGreater, step, 0)), later, first);
}

}  // namespace

Status adagrad(ImportContext& cx) {
  const Optimized all = TRY(optimized(cx, 3));
  const ValueId rate = TRY(cx.input(0));
  const ValueId decay = TRY(times(cx, TRY(step_number(cx, rate)), TRY(cx.node().get_float("decay_factor", 0))));
  const ValueId r = TRY(binary(cx, kDiv, rate, TRY(binary(cx, kSum, decay, 1))));
  for (size_t i = 0; i < all.count; ++i) {
    const ValueId x = TRY(cx.input(all.input(0, i))), h = TRY(cx.input(all.input(2, i)));
    const ValueId g = TRY(regularized(cx, x, TRY(cx.input(all.input(1, i)))));
    const ValueId squares = TRY(plus(cx, h, TRY(times(cx, g, g))));
    const ValueId root = TRY(unary(cx, UnaryKind::kSqrt, squares));
    const ValueId divisor = TRY(binary(cx, kSum, root, TRY(cx.node().get_float("epsilon", 1e-6F))));
    TRY(cx.output(i, TRY(minus(cx, x, TRY(binary(cx, kDiv, TRY(times(cx, g, r)), divisor))))));
    TRY(cx.output(all.count + i, squares));
  }
  return {};
}

Status adam(ImportContext& cx) {
  const Optimized all = TRY(optimized(cx, 4));
  const ValueId rate = TRY(cx.input(0)), step = TRY(step_number(cx, rate));
  const float alpha = TRY(cx.node().get_float("alpha", 0.9F)), beta = TRY(cx.node().get_float("beta", 0.999F));
  const float epsilon = TRY(cx.node().get_float("epsilon", 1e-6F));
  const auto rest_of_power = [&](float base) -> Result<ValueId> {  // 1 - base^step
    const ValueId power = TRY(binary(cx, kPow, scalar_like(cx, base, step), step));
    return minus(cx, scalar_like(cx, 1, power), power);
  };
  const ValueId root = TRY(unary(cx, UnaryKind::kSqrt, TRY(rest_of_power(beta))));
  const ValueId later = TRY(binary(cx, kDiv, TRY(times(cx, root, rate)), TRY(rest_of_power(alpha))));
  const ValueId adjusted = TRY(unless_first(cx, step, later, rate));
  const float keeps = 1 - TRY(cx.node().get_float("norm_coefficient_post", 0));
  const auto moved = [&](ValueId old, ValueId now, float by) -> Result<ValueId> {
    return plus(cx, TRY(times(cx, old, by)), TRY(times(cx, now, 1 - double{by})));
  };
  for (size_t i = 0; i < all.count; ++i) {
    const ValueId x = TRY(cx.input(all.input(0, i)));
    const ValueId g = TRY(regularized(cx, x, TRY(cx.input(all.input(1, i)))));
    const ValueId v = TRY(moved(TRY(cx.input(all.input(2, i))), g, alpha));
    const ValueId h = TRY(moved(TRY(cx.input(all.input(3, i))), TRY(times(cx, g, g)), beta));
    const ValueId divisor = TRY(binary(cx, kSum, TRY(unary(cx, UnaryKind::kSqrt, h)), epsilon));
    const ValueId y = TRY(minus(cx, x, TRY(binary(cx, kDiv, TRY(times(cx, v, adjusted)), divisor))));
    TRY(cx.output(i, TRY(times(cx, y, keeps))));
    TRY(cx.output(all.count + i, v));
    TRY(cx.output(2 * all.count + i, h));
  }
  return {};
}

Status momentum(ImportContext& cx) {
  const Optimized all = TRY(optimized(cx, 3));
  const ValueId rate = TRY(cx.input(0)), step = TRY(step_number(cx, rate));
  const float alpha = TRY(cx.node().get_float("alpha", 0)), beta = TRY(cx.node().get_float("beta", 0));
  const std::string_view mode = TRY(cx.node().need_string("mode"));
  TRY(require(mode == "standard" || mode == "nesterov", "mode is '", mode, "'; standard or nesterov is needed"));
  const ValueId adjusted = TRY(unless_first(cx, step, scalar_like(cx, beta, step), scalar_like(cx, 1, step)));
  for (size_t i = 0; i < all.count; ++i) {
    const ValueId x = TRY(cx.input(all.input(0, i)));
    const ValueId g = TRY(regularized(cx, x, TRY(cx.input(all.input(1, i)))));
    const ValueId v = TRY(plus(cx, TRY(times(cx, TRY(cx.input(all.input(2, i))), alpha)), TRY(times(cx, g, adjusted))));
    const ValueId way = mode == "standard" ? v : TRY(plus(cx, g, TRY(times(cx, v, alpha))));
    TRY(cx.output(i, TRY(minus(cx, x, TRY(times(cx, way, rate))))));
    TRY(cx.output(all.count + i, v));
  }
  return {};
}

}  // namespace kiln::onnx::importers::training
