#include "passes/testing/random_graph.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/gather.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "ops/unsqueeze.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

class Maker {
 public:
  Maker(uint64_t seed, RandomGraph& made) : random_(seed), made_(made), graph_(made.graph) {}

  int below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }
  bool chance(int percent) { return below(100) < percent; }

  HostTensor tensor(DType dtype, Extents extents) {
    std::vector<double> numbers(static_cast<size_t>(volume(extents)));
    for (double& number : numbers) number = is_float(dtype) ? (below(33) - 16) / 4.0 : below(7) - 3;
    return HostTensor::of(dtype, std::move(extents), numbers);
  }

  void add_inputs() {
    constexpr int64_t kBatch = 3;  // what the symbol is bound to
    const int count = 1 + below(2);
    for (int i = 0; i < count; ++i) {
      Shape shape;
      Extents extents;
      const bool image = chance(40);
      const int rank = image ? 4 : 1 + below(4);
      for (int axis = 0; axis < rank; ++axis) {
        const bool symbolic = axis == 0 && chance(30);
        extents.push_back(symbolic ? kBatch : image && axis > 1 ? 4 + below(2) : 1 + below(3));
        shape.push_back(symbolic ? graph_.table().symbol("n", {1, 2, 8}) : sym::Expr(extents.back()));
      }
      values_.push_back(graph_.add_input(str("x", i), TensorType(DType::kF32, std::move(shape))));
      made_.inputs.push_back(tensor(DType::kF32, std::move(extents)));
    }
  }

  ir::ValueId pick() {
    return values_[static_cast<size_t>(chance(50) ? std::max(0, num_values() - 1 - below(2)) : below(num_values()))];
  }
  int num_values() const { return static_cast<int>(values_.size()); }
  const TensorType& type(ir::ValueId id) const { return graph_.type(id); }
  int64_t extent(ir::ValueId id, int axis) const {
    return type(id).shape[static_cast<size_t>(axis)].constant().value_or(1);
  }
  ir::ValueId constant(HostTensor value) { return graph_.add_constant(std::move(value)); }
  ir::ValueId ints(const std::vector<int64_t>& values) {
    return constant(HostTensor::of_ints(DType::kI64, {static_cast<int64_t>(values.size())}, values));
  }
  /// A constant that broadcasts against x, often of one element.
  ir::ValueId constant_beside(ir::ValueId x) {
    Extents extents;
    const bool single = chance(50);
    for (int axis = 0; axis < type(x).rank(); ++axis) extents.push_back(single || chance(50) ? 1 : extent(x, axis));
    return constant(tensor(type(x).dtype, std::move(extents)));
  }

  /// Tries to add a node; inference refuses what does not fit.
  void add(Op op, const std::vector<ir::ValueId>& inputs) {
    const auto added = graph_.add_one(std::move(op), inputs, str("node", graph_.num_nodes()));
    if (!added) return;
    if (const auto& e = type(*added); e.volume().opt() > 4000 || e.rank() > 6) return;
    values_.push_back(*added);
  }
  void add_random(const OpInfo& info);
  void mark_outputs() {
    for (const ir::ValueId id : values_)
      if (graph_.num_uses(id) == 0 || chance(10)) graph_.mark_output(id, str("y", graph_.outputs().size()));
  }

 private:
  void add_reshape(ir::ValueId x);
  void add_slice(ir::ValueId x);
  void add_element_wise(ir::ValueId x);
  void add_window(ir::ValueId x, const OpInfo& info);
  void add_matrix_multiply(ir::ValueId x);
  void add_normalization(ir::ValueId x);
  void add_movement(ir::ValueId x, const OpInfo& info);

  std::mt19937_64 random_;
  RandomGraph& made_;
  ir::Graph& graph_;
  std::vector<ir::ValueId> values_;
};

void Maker::add_reshape(ir::ValueId x) {
  std::vector<int64_t> dims;
  if (type(x).is_static() && chance(60)) {
    int64_t left = volume(type(x).opt_extents());
    for (const int64_t factor : {2, 3, 5})
      while (left % factor == 0 && chance(60)) dims.push_back(factor), left /= factor;
    dims.push_back(chance(30) ? -1 : left);
    if (chance(30)) dims.push_back(1);
    std::shuffle(dims.begin(), dims.end(), random_);
  } else {
    if (type(x).rank() > 1 && chance(50)) dims.push_back(0);
    dims.push_back(-1);
    if (chance(30)) dims.push_back(1);
  }
  chance(50) ? add(ops::Reshape{.dims = dims}, {x}) : add(ops::Reshape{}, {x, ints(dims)});
}

void Maker::add_slice(ir::ValueId x) {
  ops::Slice slice;
  const bool fills = chance(50);
  if (fills) slice.mode = SliceMode::kFill;
  const int first = type(x).rank() == 4 && chance(70) ? 2 : 0;  // often the spatial axes alone
  for (int axis = first; axis < type(x).rank(); ++axis) {
    if (!type(x).shape[static_cast<size_t>(axis)].is_const()) continue;
    const int64_t wide = extent(x, axis), before = fills ? below(3) - 1 : -below(static_cast<int>(wide));
    slice.axes.push_back(axis);
    slice.starts.push_back(-before);
    slice.sizes.push_back(std::max<int64_t>(1, wide + before + (fills ? below(3) - 1 : 0)));
  }
  if (!slice.axes.empty()) add(slice, {x});
}

void Maker::add_element_wise(ir::ValueId x) {
  const ir::ValueId other = chance(40) ? pick() : constant_beside(x);
  const ops::ElementWise op{static_cast<ops::ElementWiseKind>(below(7))};
  chance(50) ? add(op, {x, other}) : add(op, {other, x});
}

void Maker::add_window(ir::ValueId x, const OpInfo& info) {
  if (type(x).rank() != 4) return;
  const int64_t kernel = 1 + below(3);
  const std::vector<int64_t> pads{below(2), below(2)}, posts{below(2), below(2)}, strides{1 + below(2), 1};
  if (&info == &op_info<ops::Pooling>())
    return add(ops::Pooling{.kind = chance(70) ? ops::PoolingKind::kAverage : ops::PoolingKind::kMax,
                            .window = {kernel, kernel},
                            .strides = strides,
                            .pre_pads = pads,
                            .post_pads = posts,
                            .average_excludes_padding = chance(30)},
               {x});
  const ir::ValueId w = constant(tensor(type(x).dtype, {1 + below(3), extent(x, 1), kernel, kernel}));
  add(ops::Convolution{.strides = strides, .pre_pads = pads, .post_pads = posts}, {x, w});
}

void Maker::add_matrix_multiply(ir::ValueId x) {
  const auto side = [&] { return static_cast<ops::MatrixOp>(below(2)); };
  if (chance(50)) return add(ops::MatrixMultiply{side(), side()}, {x, pick()});
  Extents extents(static_cast<size_t>(std::max(2, type(x).rank())), 1);
  const ops::MatrixMultiply op{side(), side()};
  extents[extents.size() - 2] = extents[extents.size() - 1] = 1 + below(3);
  add(op, {x, constant(tensor(type(x).dtype, extents))});
}

/// A normalization whose scale may be any value of the graph that broadcasts to x: of an extent that is a symbol, too.
void Maker::add_normalization(ir::ValueId x) {
  if (type(x).rank() == 0) return;
  const ir::ValueId scale = chance(60) ? pick() : constant_beside(x);
  add(ops::Normalization{.axes = {below(type(x).rank())}}, {x, scale, constant_beside(x)});
}

void Maker::add_movement(ir::ValueId x, const OpInfo& info) {
  const int rank = type(x).rank();
  if (&info == &op_info<ops::Transpose>()) {
    std::vector<int64_t> perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    return add(ops::Transpose{perm}, {x});
  }
  if (&info == &op_info<ops::Squeeze>()) {
    std::vector<int64_t> axes;
    for (int axis = 0; axis < rank; ++axis)
      if (type(x).shape[static_cast<size_t>(axis)] == sym::Expr(1) && chance(60)) axes.push_back(axis);
    if (!axes.empty()) add(ops::Squeeze{axes}, {x});
  } else if (&info == &op_info<ops::Unsqueeze>()) {
    add(ops::Unsqueeze{{below(rank + 1)}}, {x});
  } else if (&info == &op_info<ops::Expand>()) {
    std::vector<int64_t> dims;
    for (int axis = 0; axis < rank; ++axis) dims.push_back(extent(x, axis) == 1 ? 1 + below(3) : extent(x, axis));
    add(ops::Expand{dims}, {x});
  } else if (&info == &op_info<ops::Concatenation>()) {
    add(ops::Concatenation{below(std::max(1, rank))}, chance(50) ? std::vector{x, x} : std::vector{x, pick()});
  } else if (&info == &op_info<ops::Gather>() && rank > 0) {
    const int axis = below(rank);
    const auto index = [&] { return below(static_cast<int>(2 * extent(x, axis))) - extent(x, axis); };
    const ir::ValueId indices =
        chance(60) ? constant(HostTensor::scalar(DType::kI64, static_cast<double>(index()))) : ints({index(), index()});
    add(ops::Gather{.axis = axis}, {x, indices});
  }
}

void Maker::add_random(const OpInfo& info) {
  const ir::ValueId x = pick();
  if (&info == &op_info<ops::Reshape>()) return add_reshape(x);
  if (&info == &op_info<ops::Slice>()) return add_slice(x);
  if (&info == &op_info<ops::ElementWise>()) return add_element_wise(x);
  if (&info == &op_info<ops::Normalization>()) return add_normalization(x);
  if (&info == &op_info<ops::MatrixMultiply>()) return add_matrix_multiply(x);
  if (&info == &op_info<ops::Convolution>() || &info == &op_info<ops::Pooling>()) return add_window(x, info);
  if (&info == &op_info<ops::Unary>()) {
    constexpr ops::UnaryKind kKinds[] = {ops::UnaryKind::kAbs, ops::UnaryKind::kNeg, ops::UnaryKind::kSqrt};
    return add(ops::Unary{kKinds[below(3)]}, {x});
  }
  if (&info == &op_info<ops::Activation>())
    return add(ops::Activation{static_cast<ops::ActivationKind>(below(3))}, {x});
  if (&info == &op_info<ops::Cast>()) {
    constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                                DType::kI64, DType::kI8,  DType::kF64,  DType::kBool};
    return add(ops::Cast{kTypes[below(8)]}, {x});
  }
  if (&info == &op_info<ops::Reduce>())
    return add(ops::Reduce{static_cast<ops::ReduceKind>(below(5)), {below(std::max(1, type(x).rank()))}, chance(50)},
               {x});
  add_movement(x, info);
}

}  // namespace

RandomGraph random_graph(uint64_t seed, int nodes, std::span<const OpInfo* const> ops) {
  RandomGraph made;
  Maker maker(seed, made);
  maker.add_inputs();
  const int enough = maker.num_values() + nodes;
  for (int tries = 0; tries < 20 * nodes && maker.num_values() < enough; ++tries)
    maker.add_random(*ops[static_cast<size_t>(maker.below(static_cast<int>(ops.size())))]);
  maker.mark_outputs();
  return made;
}

}  // namespace kiln::passes
