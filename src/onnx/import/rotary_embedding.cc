#include "onnx/import/rotary_embedding.h"

#include "onnx/import/attention_parts.h"
#include "onnx/import/importers.h"
#include "ops/rotary_embedding.h"

namespace kiln::onnx {

Result<int> turned_channels(ImportContext& cx, ValueId cosines) {
  const auto half = cx.rank(cosines) == 2 ? cx.extent(cosines, 1).constant() : std::nullopt;
  TRY(require(half && *half <= INT32_MAX / 2, "cos_cache is ", cx.type(cosines),
              "; [positions, a constant] is needed"));
  return static_cast<int>(2 * *half);
}

Result<ValueId> rotate(ImportContext& cx, ValueId x, const Rotation& by) {
  ops::RotaryEmbedding op;
  op.interleaved = by.interleaved;
  op.dim = by.dim;
  Values inputs{x, by.cosines, by.sines};
  if (by.positions != ValueId::kNone) inputs.push_back(by.positions);
  return cx.add(op, inputs);
}

namespace importers {

Status rotary_embedding(ImportContext& cx) {
  const ValueId given = TRY(cx.input(0));
  ValueId x = given;
  cx.node().pass_over("num_heads");  // four axes say it by themselves
  if (cx.rank(given) == 3) x = TRY(split_heads(cx, given, TRY(cx.node().need_int("num_heads"))));
  const Rotation by{TRY(cx.input(1)), TRY(cx.input(2)), cx.optional_input(3),
                    TRY(cx.node().get_int("interleaved", 0)) != 0, TRY(cx.int_attribute("rotary_embedding_dim", 0))};
  const ValueId y = TRY(rotate(cx, x, by));
  return cx.output(cx.rank(given) == 3 ? TRY(join_heads(cx, y)) : y);
}

}  // namespace importers
}  // namespace kiln::onnx
