#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"

namespace kiln::onnx::importers {
namespace {

/// Blocks of an image: every element of every block is added to its pixel.
struct Blocks {
  SymbolicValues image, block, counts;  ///< extents; blocks along each axis
  Ints dilations, pads, strides;

  int axes() const { return static_cast<int>(image.size()); }
};

Result<Blocks> blocks_of(ImportContext& cx) {
  Blocks b{.image = TRY(cx.values(TRY(cx.input(1)), "image_shape")),
           .block = TRY(cx.values(TRY(cx.input(2)), "block_shape"))};
  const size_t axes = b.image.size();
  b.dilations = TRY(cx.node().get_ints("dilations", Ints(axes, 1)));
  b.pads = TRY(cx.node().get_ints("pads", Ints(2 * axes, 0)));
  b.strides = TRY(cx.node().get_ints("strides", Ints(axes, 1)));
  TRY(require(axes > 0 && 2 * axes <= kMaxRank && b.block.size() == axes && b.dilations.size() == axes &&
                  b.strides.size() == axes && b.pads.size() == 2 * axes,
              "image_shape has ", axes, " axes, block_shape ", b.block.size(), ", dilations ", b.dilations.size(),
              ", strides ", b.strides.size(), " and pads ", b.pads.size()));
  for (size_t i = 0; i < axes; ++i) {
    TRY(require(b.dilations[i] > 0 && b.strides[i] > 0, "dilations are ", b.dilations, " and strides ", b.strides,
                "; they must be positive"));
    const sym::Expr room = b.image[i] + b.pads[i] + b.pads[axes + i] - (b.block[i] - 1) * b.dilations[i] - 1;
    TRY(require(room.max() >= 0 && b.block[i].max() > 0, "a block of ", b.block[i], " does not fit axis ", i,
                " of image_shape ", b.image));
    b.counts.push_back(sym::floor_div(room, b.strides[i]) + 1);
  }
  return b;
}

sym::Expr product(const SymbolicValues& values) {
  sym::Expr result = 1;
  for (const sym::Expr& value : values) result *= value;
  return result;
}

/// The columns that are added to each pixel: element * (number of blocks) + block. Axes are those of the image, then
/// as many that count terms; a term that is none is the column behind all.
class Terms {
 public:
  Terms(ImportContext& cx, const Blocks& blocks) : cx_(cx), b_(blocks) {}

  Result<ValueId> index() {
    for (int axis = 0; axis < b_.axes(); ++axis) TRY(add_axis(axis));
    const ValueId column = TRY(sum_of(element_, product(b_.counts), block_));
    return select(cx_, is_term_, column, TRY(scalar_value(cx_, product(b_.block) * product(b_.counts))));
  }
  /// How many a pixel has at most.
  sym::Expr count() const { return product(counts_); }

 private:
  Result<ValueId> binary(ElementWiseKind kind, ValueId a, const sym::Expr& b) {
    return kiln::onnx::binary(cx_, kind, a, TRY(scalar_value(cx_, b)));
  }
  /// a * factor + b; b where a is none.
  Result<ValueId> sum_of(ValueId a, const sym::Expr& factor, ValueId b) {
    if (a == ValueId::kNone) return b;
    return kiln::onnx::binary(cx_, ElementWiseKind::kSum, TRY(binary(ElementWiseKind::kProd, a, factor)), b);
  }
  Status must(ValueId condition) {
    is_term_ = is_term_ == ValueId::kNone ? condition
                                          : TRY(kiln::onnx::binary(cx_, ElementWiseKind::kAnd, is_term_, condition));
    return {};
  }

  Status add_axis(int axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t stride = b_.strides[i], dilation = b_.dilations[i];
    const bool steps = dilation == 1 && stride > 1;  // one element in `stride` meets a pixel
    const sym::Expr count = steps ? sym::ceil_div(b_.block[i], stride) : b_.block[i];
    counts_.push_back(count);
    const ValueId pixel = TRY(indices_along(cx_, b_.image[i], axis, 2 * b_.axes()));
    const ValueId at = TRY(binary(ElementWiseKind::kSum, pixel, b_.pads[i]));
    ValueId element = TRY(indices_along(cx_, count, b_.axes() + axis, 2 * b_.axes()));
    if (steps) {
      const ValueId rounds = TRY(binary(ElementWiseKind::kFloorDiv, at, stride));
      const ValueId first = TRY(sum_of(rounds, -stride, at));
      element = TRY(sum_of(element, stride, first));
      TRY(must(TRY(binary(ElementWiseKind::kLess, element, b_.block[i]))));
    }
    const ValueId start = TRY(sum_of(element, -dilation, at));
    const ValueId block = TRY(binary(ElementWiseKind::kFloorDiv, start, stride));
    const ValueId begins = TRY(binary(ElementWiseKind::kProd, block, stride));
    TRY(must(TRY(kiln::onnx::binary(cx_, ElementWiseKind::kEqual, begins, start))));
    TRY(must(TRY(binary(ElementWiseKind::kGreater, block, -1))));
    TRY(must(TRY(binary(ElementWiseKind::kLess, block, b_.counts[i]))));
    element_ = TRY(sum_of(element_, b_.block[i], element));
    block_ = TRY(sum_of(block_, b_.counts[i], block));
    return {};
  }

  ImportContext& cx_;
  const Blocks& b_;
  SymbolicValues counts_;
  ValueId element_ = ValueId::kNone, block_ = ValueId::kNone, is_term_ = ValueId::kNone;
};

}  // namespace

/// Imports Col2Im: each pixel gathers what is added to it, by a table that is folded where shapes are constants.
Status col2im(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const Blocks b = TRY(blocks_of(cx));
  TRY(require(cx.rank(x) == 3, "x is ", cx.type(x), "; [N, C * elements of a block, blocks] is needed"));
  const sym::Expr elements = product(b.block), count = product(b.counts);
  TRY(require(sym::compare_equal(cx.extent(x, 2), count) != sym::Truth::kNo, "x is ", cx.type(x), "; there are ", count,
              " blocks"));
  const sym::Expr channels = sym::floor_div(cx.extent(x, 1), elements);
  TRY(require(sym::compare_equal(channels * elements, cx.extent(x, 1)) != sym::Truth::kNo, "x is ", cx.type(x),
              "; a block has ", elements, " elements"));
  const ValueId columns = TRY(reshape(cx, x, {cx.extent(x, 0), channels, elements * count}));
  const ValueId padded = TRY(
      slice(cx, columns,
            {.starts = {0}, .sizes = {elements * count + 1}, .strides = {1}, .axes = {2}, .mode = SliceMode::kFill}));
  Terms terms(cx, b);
  const ValueId index = TRY(terms.index());
  const ValueId table = TRY(reshape(cx, index, {product(b.image), terms.count()}));
  const ValueId picked = TRY(cx.add(ops::Gather{.axis = 2}, {padded, table}));
  Shape shape{cx.extent(x, 0), channels};
  shape.insert(shape.end(), b.image.begin(), b.image.end());
  return cx.output(TRY(reshape(cx, TRY(reduce(cx, ReduceKind::kSum, picked, {3}, false)), shape)));
}

}  // namespace kiln::onnx::importers
