#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {
namespace {

/// The length of a block's side, whose square fits in int64.
Result<int64_t> block_size(ImportContext& cx, ValueId x) {
  TRY(require(cx.rank(x) == 4, "x is ", cx.type(x), "; [N, C, H, W] is needed"));
  const int64_t block = TRY(cx.node().need_int("blocksize"));
  TRY(require(block > 0 && block <= INT32_MAX, "blocksize is ", block, "; it must be in [1, ", INT32_MAX, "]"));
  return block;
}

Result<bool> is_depth_first(ImportContext& cx) {
  const std::string_view mode = TRY(cx.node().get_string("mode", "DCR"));
  TRY(require(mode == "DCR" || mode == "CRD", "mode is '", mode, "'; DCR or CRD is needed"));
  return mode == "DCR";
}

}  // namespace

Status depth_to_space(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t b = TRY(block_size(cx, x));
  const bool depth_first = TRY(is_depth_first(cx));
  const Shape& s = cx.type(x).shape;
  const sym::Expr n = s[0], h = s[2], w = s[3], c = sym::floor_div(s[1], b * b);
  const ValueId blocks = TRY(reshape(cx, x, depth_first ? Shape{n, b, b, c, h, w} : Shape{n, c, b, b, h, w}));
  const ValueId moved = TRY(transpose(cx, blocks, depth_first ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3}));
  return cx.output(TRY(reshape(cx, moved, {n, c, h * b, w * b})));
}

Status space_to_depth(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t b = TRY(block_size(cx, x));
  const bool depth_first = TRY(is_depth_first(cx));
  const Shape& s = cx.type(x).shape;
  const sym::Expr n = s[0], c = s[1], h = sym::floor_div(s[2], b), w = sym::floor_div(s[3], b);
  const ValueId blocks = TRY(reshape(cx, x, {n, c, h, b, w, b}));
  const ValueId moved = TRY(transpose(cx, blocks, depth_first ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4}));
  return cx.output(TRY(reshape(cx, moved, {n, c * (b * b), h, w})));
}

}  // namespace kiln::onnx::importers
