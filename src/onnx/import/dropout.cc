#include <cmath>
#include <random>

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/identity.h"

namespace kiln::onnx::importers {
namespace {

constexpr int64_t kMostDraws = 1 << 26;  // a constant of 256 MiB

/// Everything was kept: true, of x's shape; before version 10 ones of x's type.
Result<ValueId> whole_mask(ImportContext& cx, ValueId x) {
  const DType type = cx.opset() < 10 ? cx.dtype(x) : DType::kBool;
  return expand(cx, scalar_of(cx, 1, type, cx.rank(x)), cx.type(x).shape);
}

Status pass_through(ImportContext& cx, ValueId x) {
  if (cx.wants(1)) TRY(cx.output(1, TRY(whole_mask(cx, x))));
  return cx.output(TRY(cx.add(ops::Identity{}, {x})));
}

bool is_known_to_be(ImportContext& cx, size_t input, double number) {
  const auto known = cx.number(cx.inputs()[input], "");
  return known && *known == number;
}

/// Numbers in [0, 1) of x's shape, as ONNX's reference implementation draws them: numpy's RandomState, which is the
/// Mersenne Twister MT19937 seeded by one number, two draws giving the 53 bits of a double (27 and 26 of them;
/// Matsumoto and Nishimura's genrand_res53). They are rounded down to floats, which decides `draw >= ratio` alike for
/// any float.
Result<HostTensor> draws_of(ImportContext& cx, ValueId x) {
  const auto extents = cx.type(x).extents();
  if (!extents)
    return error(Code::kUnsupported, "x is ", cx.type(x),
                 "; a seed decides what is dropped only where all extents are constants");
  const int64_t count = TRY(checked_volume(*extents));
  TRY(require(count <= kMostDraws, "x has ", count, " elements; at most ", kMostDraws, " are dropped by a seed"));
  const int64_t seed = TRY(cx.node().get_int("seed", 0));
  TRY(require(seed >= 0 && seed <= UINT32_MAX, "seed is ", seed, "; the generator takes 32 bits without a sign"));
  std::mt19937 generator(static_cast<uint32_t>(seed));
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, *extents));
  auto* draws = reinterpret_cast<float*>(fresh.data.data());
  for (int64_t i = 0; i < count; ++i) {
    const auto high = static_cast<double>(generator() >> 5), low = static_cast<double>(generator() >> 6);
    const double exact = (high * 0x1p26 + low) * 0x1p-53;
    draws[i] = static_cast<float>(exact);
    if (static_cast<double>(draws[i]) > exact) draws[i] = std::nextafter(draws[i], 0.0F);
  }
  return fresh.tensor;
}

/// y = x * mask / (1 - ratio) where training, else x. ratio and training may come at run time.
Status drop(ImportContext& cx, ValueId x, ValueId training) {
  const ValueId given = cx.optional_input(1);
  const ValueId ratio = given == ValueId::kNone ? scalar_of(cx, 0.5, DType::kF32) : TRY(cast(cx, given, DType::kF32));
  const ValueId draws = cx.add_constant(TRY(draws_of(cx, x)));
  const ValueId dropped = TRY(binary(cx, ElementWiseKind::kLess, draws, ratio));
  const ValueId kept_share = TRY(binary(cx, ElementWiseKind::kSub, scalar_of(cx, 1, DType::kF32), ratio));
  const ValueId scale = TRY(unary(cx, UnaryKind::kRecip, kept_share));
  const ValueId factor = TRY(select(cx, dropped, scalar_of(cx, 0, DType::kF32), scale));
  const ValueId chosen = TRY(select(cx, training, factor, scalar_of(cx, 1, DType::kF32)));
  TRY(cx.output(TRY(binary(cx, ElementWiseKind::kProd, x, TRY(cast(cx, chosen, cx.dtype(x)))))));
  if (!cx.wants(1)) return {};
  const ValueId falls = TRY(binary(cx, ElementWiseKind::kAnd, dropped, training));
  return cx.output(1, TRY(unary(cx, UnaryKind::kNot, falls)));
}

}  // namespace

/// Drops nothing, as inference has it, unless the node asks for training and says which elements fall: by its seed.
Status dropout(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  for (const std::string_view of_training : {"ratio", "seed"}) cx.node().pass_over(of_training);
  if (cx.opset() < 12 || !cx.has_input(2)) return pass_through(cx, x);
  const ValueId training = TRY(cx.input(2));
  if (is_known_to_be(cx, 2, 0) || (cx.has_input(1) && is_known_to_be(cx, 1, 0))) return pass_through(cx, x);
  if (!cx.node().find("seed"))
    return error(Code::kUnsupported, "training_mode '", cx.graph().value(training).name,
                 "' may be true, and without a seed chance decides what is dropped; give the node a seed, or make "
                 "training_mode a constant that is false");
  return drop(cx, x, training);
}

}  // namespace kiln::onnx::importers
