#include "library/value.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace kiln::plugins {
namespace {

bool is_integer(nv::DataType type) { return type == nv::DataType::kINT32 || type == nv::DataType::kINT64; }

/// Whether all values have tensors. A missing one was reported when it failed.
bool all_there(std::initializer_list<const Value*> values) {
  return std::ranges::all_of(values, [](const Value* value) { return value->tensor() != nullptr; });
}

/// A layer on one tensor.
template <class F>
Value on(const Value& x, F add) {
  return x.tensor() ? x.layers().output(add(x.layers().network(), *x.tensor())) : x;
}

uint32_t mask_of(const Value& x, const Axes& axes) {
  uint32_t mask = 0;
  for (const int axis : axes) mask |= 1U << static_cast<unsigned>(axis_of(x, axis));
  return mask;
}

Value axes_tensor(Layers& layers, const Axes& axes) {
  std::vector<int64_t> numbers(axes.begin(), axes.end());
  const auto count = static_cast<int64_t>(numbers.size());
  return layers.constant(dims_of({count}), std::move(numbers));
}

/// The extents, if all are numbers.
std::optional<nv::Dims> numbers_of(const Extents& extents) {
  nv::Dims dims{static_cast<int32_t>(extents.size()), {}};
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i].number()) return std::nullopt;
    dims.d[i] = *extents[i].number();
  }
  return dims;
}

/// Works out an extent where both operands are numbers, else by a layer.
template <class F>
Extent calculate(const Extent& a, const Extent& b, nv::ElementWiseOperation operation, F numbers) {
  if (a.number() && b.number()) return numbers(*a.number(), *b.number());
  Layers& layers = (a.number() ? b : a).layers();
  return Extent(binary(a.value(layers), b.value(layers), operation));
}

Value rank_up(const Value& x, int rank) {
  Axes front;
  for (int i = 0; i < rank - x.rank(); ++i) front.push_back(i);
  return front.empty() ? x : unsqueeze(x, front);
}

}  // namespace

nv::Dims dims_of(std::span<const int64_t> extents) {
  nv::Dims dims{static_cast<int32_t>(std::min<size_t>(extents.size(), nv::Dims::MAX_DIMS)), {}};
  std::copy_n(extents.begin(), dims.nbDims, dims.d);
  return dims;
}
nv::Dims dims_of(std::initializer_list<int64_t> extents) { return dims_of(std::span(extents.begin(), extents.size())); }
int axis_of(const Value& x, int axis) { return axis < 0 ? axis + x.rank() : axis; }

Value Layers::output(nv::ILayer* layer, int index) {
  nv::ITensor* tensor = layer ? layer->getOutput(index) : nullptr;
  if (tensor && tensor->getDimensions().nbDims < 0) tensor = nullptr;  // the layer's inputs do not fit each other
  if (!tensor) failed_ = true;
  return {*this, tensor};
}

void Layers::require(const Value& condition, const std::string& text) {
  const std::string message = subject_.empty() ? text : subject_ + ": " + text;
  if (!condition.tensor() || !network_.addAssertion(*condition.tensor(), message.c_str())) fail();
}

Value Layers::constant(nv::Dims dims, nv::DataType type, const void* elements, size_t size_bytes) {
  const auto* const bytes = static_cast<const std::byte*>(elements);
  kept_.emplace_back(bytes, bytes + size_bytes);
  int64_t count = 1;
  for (int i = 0; i < dims.nbDims; ++i) count *= dims.d[i];
  return output(network_.addConstant(dims, {type, kept_.back().data(), count}));
}
Value Layers::constant(nv::Dims dims, std::vector<float> elements) {
  return constant(dims, nv::DataType::kFLOAT, elements.data(), elements.size() * sizeof(float));
}
Value Layers::constant(nv::Dims dims, std::vector<int32_t> elements) {
  return constant(dims, nv::DataType::kINT32, elements.data(), elements.size() * sizeof(int32_t));
}
Value Layers::constant(nv::Dims dims, std::vector<int64_t> elements) {
  return constant(dims, nv::DataType::kINT64, elements.data(), elements.size() * sizeof(int64_t));
}

Value Layers::scalar(double number, nv::DataType type, int rank) {
  nv::Dims dims{rank, {}};
  std::fill_n(dims.d, rank, 1);
  if (is_integer(type)) return constant(dims, std::vector<int64_t>{static_cast<int64_t>(number)}).cast(type);
  return constant(dims, std::vector<float>{static_cast<float>(number)}).cast(type);
}

Value Layers::full(const Extents& extents, double number, nv::DataType type) {
  return broadcast(scalar(number, type, static_cast<int>(extents.size())), extents);
}

Value Layers::iota(const Extent& length, nv::DataType type) {
  const nv::Dims dims = dims_of({length.number().value_or(0)});
  nv::IFillLayer* const layer = network_.addFill(dims, nv::FillOperation::kLINSPACE, type);
  const Value start = scalar(0, type), step = scalar(1, type, 1);
  if (!layer || !start.tensor() || !step.tensor()) return output(nullptr);
  if (!length.number()) {
    const Value value = length.value(*this);
    if (!value.tensor()) return output(nullptr);
    layer->setInput(0, *value.tensor());
  }
  layer->setInput(1, *start.tensor());
  layer->setInput(2, *step.tensor());
  return output(layer);
}

Value Layers::shape_tensor(const Extents& extents) {
  if (const auto dims = numbers_of(extents)) {
    std::vector<int64_t> numbers(dims->d, dims->d + dims->nbDims);
    return constant(dims_of({dims->nbDims}), std::move(numbers));
  }
  std::vector<Value> parts;
  for (const Extent& extent : extents) parts.push_back(extent.value(*this));
  return concat(parts, 0);
}

Value Extent::value(Layers& layers) const {
  return number_ ? layers.constant(dims_of({1}), std::vector<int64_t>{*number_}) : value_;
}
Extent operator+(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kSUM, [](int64_t x, int64_t y) { return x + y; });
}
Extent operator-(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kSUB, [](int64_t x, int64_t y) { return x - y; });
}
Extent operator*(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kPROD, [](int64_t x, int64_t y) { return x * y; });
}
Extent operator/(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kFLOOR_DIV, [](int64_t x, int64_t y) { return y ? x / y : 0; });
}
Extent min(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kMIN, [](int64_t x, int64_t y) { return std::min(x, y); });
}
Extent max(const Extent& a, const Extent& b) {
  return calculate(a, b, nv::ElementWiseOperation::kMAX, [](int64_t x, int64_t y) { return std::max(x, y); });
}

Extent Value::extent(int axis) const {
  if (!tensor_) return Extent(*this);
  const int at = axis_of(*this, axis);
  if (const int64_t number = tensor_->getDimensions().d[at]; number >= 0) return number;
  const Value shape = layers_->output(layers_->network().addShape(*tensor_));
  return Extent(slice(shape, 0, at, 1));
}
Extents Value::extents() const {
  Extents all;
  for (int i = 0; i < rank(); ++i) all.push_back(extent(i));
  return all;
}

Value Value::cast(nv::DataType type) const {
  if (!tensor_ || tensor_->getType() == type) return *this;
  return layers_->output(layers_->network().addCast(*tensor_, type));
}

namespace {

/// The operand as a value of the type and the rank of `other`, unless it is one.
Value value_beside(const Operand& operand, const Value& other) {
  if (!operand.number() || !other.tensor()) return operand.value();
  return other.layers().scalar(*operand.number(), other.type(), other.rank());
}

}  // namespace

Value binary(const Operand& left, const Operand& right, nv::ElementWiseOperation operation) {
  const Value a = value_beside(left, right.value()), b = value_beside(right, left.value());
  if (!all_there({&a, &b})) return left.number() || a.tensor() ? b : a;
  const int rank = std::max(a.rank(), b.rank());
  const Value x = rank_up(a, rank), y = rank_up(b, rank);
  if (!all_there({&x, &y})) return x.tensor() ? y : x;
  return a.layers().output(a.layers().network().addElementWise(*x.tensor(), *y.tensor(), operation));
}

Value unary(const Value& x, nv::UnaryOperation operation) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) { return network.addUnary(in, operation); });
}

namespace {

/// The layer whose output 0 a tensor is; null for an input of the network.
nv::ILayer* maker_of(nv::INetworkDefinition& network, const nv::ITensor* tensor) {
  for (int32_t i = 0; i < network.getNbLayers(); ++i)
    if (nv::ILayer* const layer = network.getLayer(i); layer && layer->getOutput(0) == tensor) return layer;
  return nullptr;
}

template <class T>
std::vector<int64_t> elements_of(const nv::Weights& weights) {
  const auto* const elements = static_cast<const T*>(weights.values);
  return {elements, elements + weights.count};
}

}  // namespace

std::optional<std::vector<int64_t>> known_integers(const Value& x) {
  const nv::ITensor* tensor = x.tensor();
  while (tensor && is_integer(tensor->getType()) && !tensor->isNetworkInput()) {
    nv::ILayer* const layer = maker_of(x.layers().network(), tensor);
    if (!layer) return std::nullopt;
    if (layer->getType() == nv::LayerType::kCONSTANT) {
      const nv::Weights weights = static_cast<nv::IConstantLayer*>(layer)->getWeights();
      return weights.type == nv::DataType::kINT32 ? elements_of<int32_t>(weights) : elements_of<int64_t>(weights);
    }
    if (layer->getType() != nv::LayerType::kCAST) return std::nullopt;
    tensor = layer->getInput(0);
  }
  return std::nullopt;
}

Value activation(const Value& x, nv::ActivationType type, float alpha, float beta) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::IActivationLayer* const layer = network.addActivation(in, type);
    if (layer) layer->setAlpha(alpha), layer->setBeta(beta);
    return layer;
  });
}
Value clamp(const Value& x, double least, double most) { return min(max(x, least), most); }

Value select(const Value& condition, const Value& yes, const Value& no) {
  if (!all_there({&condition, &yes, &no})) return yes.tensor() ? (no.tensor() ? condition : no) : yes;
  const int rank = std::max({condition.rank(), yes.rank(), no.rank()});
  const Value c = rank_up(condition, rank), y = rank_up(yes, rank), n = rank_up(no, rank);
  if (!all_there({&c, &y, &n})) return c.layers().output(nullptr);
  return c.layers().output(c.layers().network().addSelect(*c.tensor(), *y.tensor(), *n.tensor()));
}
Value select(const Value& condition, const Value& yes, double no) {
  return yes.tensor() ? select(condition, yes, yes.layers().scalar(no, yes.type(), yes.rank())) : yes;
}

Value softmax(const Value& x, int axis) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::ISoftMaxLayer* const layer = network.addSoftMax(in);
    if (layer) layer->setAxes(mask_of(x, {axis}));
    return layer;
  });
}

Value quantized(const Value& x, double scale) {
  if (!x.tensor()) return x;
  const Value step = x.layers().scalar(scale, nv::DataType::kFLOAT);
  if (!step.tensor()) return step;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addQuantize(in, *step.tensor(), nv::DataType::kINT8);
  });
}
Value dequantized(const Value& x, double scale) {
  if (!x.tensor()) return x;
  const Value step = x.layers().scalar(scale, nv::DataType::kFLOAT);
  if (!step.tensor()) return step;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addDequantize(in, *step.tensor(), nv::DataType::kFLOAT);
  });
}

Value reduce(const Value& x, nv::ReduceOperation operation, const Axes& axes, bool keep) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addReduce(in, operation, mask_of(x, axes), keep);
  });
}

Value normalized(const Value& x, const Axes& axes, double eps) {
  const Value centred = x - mean(x, axes);
  return centred / sqrt(mean(centred * centred, axes) + eps);
}

Value matmul(const Value& a, const Value& b, Transposed a_is, Transposed b_is) {
  const auto operation = [](Transposed is) {
    return is == Transposed::kYes ? nv::MatrixOperation::kTRANSPOSE : nv::MatrixOperation::kNONE;
  };
  if (!all_there({&a, &b})) return a.tensor() ? b : a;
  const int rank = std::max(a.rank(), b.rank());
  const Value x = rank_up(a, rank), y = rank_up(b, rank);
  if (!all_there({&x, &y})) return x.tensor() ? y : x;
  return a.layers().output(
      a.layers().network().addMatrixMultiply(*x.tensor(), operation(a_is), *y.tensor(), operation(b_is)));
}

Value cumulative_sum(const Value& x, int axis) {
  if (!x.tensor()) return x;
  const Value at = x.layers().constant(nv::Dims{0, {}}, std::vector<int32_t>{axis_of(x, axis)});
  if (!at.tensor()) return at;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addCumulative(in, *at.tensor(), nv::CumulativeOperation::kSUM, false, false);
  });
}

TopK top_k(const Value& x, const Extent& k, int axis) {
  if (!x.tensor()) return {x, x};
  Layers& layers = x.layers();
  nv::ITopKLayer* const layer = layers.network().addTopK(
      *x.tensor(), nv::TopKOperation::kMAX, static_cast<int32_t>(k.number().value_or(1)), mask_of(x, {axis}));
  if (layer && !k.number()) {
    const Value number = squeeze(k.value(layers).i32(), {0});
    if (!number.tensor()) return {number, number};
    layer->setInput(1, *number.tensor());
  }
  return {layers.output(layer, 0), layers.output(layer, 1)};
}

Value non_max_suppression(const Value& boxes, const Value& scores, int64_t most_of_class, double iou_threshold,
                          double score_threshold, int64_t candidates) {
  if (!all_there({&boxes, &scores})) return boxes.tensor() ? scores : boxes;
  Layers& layers = boxes.layers();
  const Value most = layers.constant(nv::Dims{0, {}}, std::vector<int32_t>{static_cast<int32_t>(most_of_class)});
  if (!most.tensor()) return most;
  nv::INMSLayer* const layer = layers.network().addNMS(*boxes.tensor(), *scores.tensor(), *most.tensor());
  if (layer) {
    const Value iou = layers.scalar(iou_threshold, nv::DataType::kFLOAT);
    const Value score = layers.scalar(score_threshold, nv::DataType::kFLOAT);
    if (!all_there({&iou, &score})) return layers.output(nullptr);
    layer->setInput(3, *iou.tensor());
    layer->setInput(4, *score.tensor());
    if (candidates >= 0) layer->setTopKBoxLimit(static_cast<int32_t>(std::min<int64_t>(candidates, INT32_MAX)));
  }
  return layers.output(layer);
}

Value reshape(const Value& x, const Extents& extents) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) -> nv::ILayer* {
    nv::IShuffleLayer* const layer = network.addShuffle(in);
    if (!layer) return nullptr;
    layer->setZeroIsPlaceholder(false);
    if (const auto dims = numbers_of(extents)) {
      layer->setReshapeDimensions(*dims);
      return layer;
    }
    const Value shape = x.layers().shape_tensor(extents);
    if (!shape.tensor()) return nullptr;
    layer->setInput(1, *shape.tensor());
    return layer;
  });
}

Value unsqueeze(const Value& x, const Axes& axes) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) -> nv::ILayer* {
    const Value at = axes_tensor(x.layers(), axes);
    return at.tensor() ? network.addUnsqueeze(in, *at.tensor()) : nullptr;
  });
}
Value squeeze(const Value& x, const Axes& axes) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) -> nv::ILayer* {
    const Value at = axes_tensor(x.layers(), axes);
    return at.tensor() ? network.addSqueeze(in, *at.tensor()) : nullptr;
  });
}

Value transpose(const Value& x, const std::vector<int>& permutation) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::IShuffleLayer* const layer = network.addShuffle(in);
    nv::Permutation order{};
    std::copy_n(permutation.begin(), std::min<size_t>(permutation.size(), nv::Dims::MAX_DIMS), order.order);
    if (layer) layer->setFirstTranspose(order);
    return layer;
  });
}

Value concat(const std::vector<Value>& parts, int axis) {
  std::vector<nv::ITensor*> tensors;
  for (const Value& part : parts) {
    if (!part.tensor()) return part;
    tensors.push_back(part.tensor());
  }
  Layers& layers = parts.front().layers();
  nv::IConcatenationLayer* const layer =
      layers.network().addConcatenation(tensors.data(), static_cast<int32_t>(tensors.size()));
  if (layer) layer->setAxis(axis_of(parts.front(), axis));
  return layers.output(layer);
}

namespace {

/// A slice of all axes. With `fill`, a scalar, elements outside of x are that.
Value slice_all(const Value& x, const Extents& starts, const Extents& sizes, const std::vector<int64_t>& strides,
                const Value* fill = nullptr) {
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) -> nv::ILayer* {
    const nv::Dims none{x.rank(), {}};
    const auto start = numbers_of(starts), size = numbers_of(sizes);
    nv::ISliceLayer* const layer = network.addSlice(in, start.value_or(none), size.value_or(none), dims_of(strides));
    if (!layer) return nullptr;
    if (!start) {
      const Value at = x.layers().shape_tensor(starts);
      if (!at.tensor()) return nullptr;
      layer->setInput(1, *at.tensor());
    }
    if (!size) {
      const Value count = x.layers().shape_tensor(sizes);
      if (!count.tensor()) return nullptr;
      layer->setInput(2, *count.tensor());
    }
    if (fill) {
      if (!fill->tensor()) return nullptr;
      layer->setMode(nv::SampleMode::kFILL);
      layer->setInput(4, *fill->tensor());
    }
    return layer;
  });
}

}  // namespace

Value slice(const Value& x, int axis, const Extent& start, const Extent& size, int64_t stride) {
  if (!x.tensor()) return x;
  const auto at = static_cast<size_t>(axis_of(x, axis));
  Extents starts(static_cast<size_t>(x.rank()), 0), sizes;
  for (int i = 0; i < x.rank(); ++i) sizes.push_back(static_cast<size_t>(i) == at ? size : x.extent(i));
  std::vector<int64_t> strides(static_cast<size_t>(x.rank()), 1);
  starts[at] = start;
  strides[at] = stride;
  return slice_all(x, starts, sizes, strides);
}
Value pick(const Value& x, int axis, int64_t index) { return squeeze(slice(x, axis, index, 1), {axis_of(x, axis)}); }
std::vector<Value> split(const Value& x, int axis, const std::vector<int64_t>& sizes) {
  std::vector<Value> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice(x, axis, start, size));
    start += size;
  }
  return parts;
}

Value broadcast(const Value& x, const Extents& extents) {
  if (!x.tensor()) return x;
  std::vector<int64_t> strides;
  for (int i = 0; i < x.rank(); ++i) strides.push_back(x.tensor()->getDimensions().d[i] == 1 ? 0 : 1);
  return slice_all(x, Extents(extents.size(), 0), extents, strides);
}

Value pad(const Value& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after, double number) {
  if (!x.tensor()) return x;
  Extents starts, sizes;
  for (int i = 0; i < x.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    starts.push_back(-before[at]);
    sizes.push_back(x.extent(i) + before[at] + after[at]);
  }
  const Value fill = x.layers().scalar(number, x.type());
  return slice_all(x, starts, sizes, std::vector<int64_t>(before.size(), 1), &fill);
}

Value gather(const Value& x, const Value& indices, int axis) {
  if (!all_there({&x, &indices})) return x.tensor() ? indices : x;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addGather(in, *indices.tensor(), axis_of(x, axis));
  });
}
Value gather_nd(const Value& x, const Value& indices, int batch_axes) {
  if (!all_there({&x, &indices})) return x.tensor() ? indices : x;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::IGatherLayer* const layer = network.addGatherV2(in, *indices.tensor(), nv::GatherMode::kND);
    if (layer) layer->setNbElementWiseDims(batch_axes);
    return layer;
  });
}
Value gather_elements(const Value& x, const Value& indices, int axis) {
  if (!all_there({&x, &indices})) return x.tensor() ? indices : x;
  return on(x, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::IGatherLayer* const layer = network.addGatherV2(in, *indices.tensor(), nv::GatherMode::kELEMENT);
    if (layer) layer->setGatherAxis(axis_of(x, axis));
    return layer;
  });
}
Value scatter_elements(const Value& data, const Value& indices, const Value& updates, int axis) {
  if (!all_there({&data, &indices, &updates})) return data.layers().output(nullptr);
  return on(data, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    nv::IScatterLayer* const layer =
        network.addScatter(in, *indices.tensor(), *updates.tensor(), nv::ScatterMode::kELEMENT);
    if (layer) layer->setAxis(axis_of(data, axis));
    return layer;
  });
}
Value scatter_nd(const Value& data, const Value& indices, const Value& updates) {
  if (!all_there({&data, &indices, &updates})) return data.layers().output(nullptr);
  return on(data, [&](nv::INetworkDefinition& network, nv::ITensor& in) {
    return network.addScatter(in, *indices.tensor(), *updates.tensor(), nv::ScatterMode::kND);
  });
}

}  // namespace kiln::plugins
