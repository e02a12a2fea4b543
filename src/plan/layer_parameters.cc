#include "plan/layer_parameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "steps/convolution.h"
#include "steps/copy.h"
#include "steps/deconvolution.h"
#include "steps/matrix_multiply.h"
#include "steps/nest.h"
#include "steps/pooling.h"
#include "steps/quantized_convolution.h"
#include "steps/quantized_matrix_multiply.h"
#include "steps/reduce.h"
#include "steps/resize.h"
#include "steps/slice.h"
#include "steps/softmax.h"
#include "steps/transpose.h"

namespace kiln::plan {
namespace {

/// "half_up" as "kHALF_UP".
template <class E>
std::string enumerator(E value) {
  std::string text(enum_names(value)[static_cast<size_t>(value)]);
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return "k" + text;
}

/// The words that TensorRT has for a type of weights.
std::string type_of_weights(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "Float";
    case DType::kF16: return "Half";
    case DType::kBF16: return "BFloat16";
    case DType::kF8E4M3: return "FP8";
    case DType::kI8: return "Int8";
    case DType::kU8: return "UInt8";
    case DType::kI32: return "Int32";
    case DType::kI64: return "Int64";
    case DType::kI4: return "Int4";
    default: return str(dtype);
  }
}

std::vector<int64_t> list(const Extents& numbers) { return {numbers.begin(), numbers.end()}; }

const InspectedTensor* input(const InspectedStep& of, size_t index) {
  return index < of.inputs.size() && !of.inputs[index].extents.empty() ? &of.inputs[index] : nullptr;
}

/// A constant's type and count of elements.
void set_constant(Record& record, std::string_view key, const InspectedTensor* tensor) {
  if (!tensor || !tensor->is_constant) return;
  int64_t count = 1;
  for (const int64_t extent : tensor->extents) count *= extent;
  record.set(key, Record().set("Type", type_of_weights(tensor->dtype)).set("Count", count));
}

void set_epilogue(Record& record, const InspectedStep& of, const steps::Epilogue& epilogue) {
  set_constant(record, "Weights", input(of, 1));
  set_constant(record, "Bias", input(of, steps::Epilogue::kBias));
  const InspectedTensor* weights = input(of, 1);
  const bool is_relu = epilogue.lo == 0 && std::isinf(epilogue.hi);
  const bool clips = std::isfinite(epilogue.lo) || std::isfinite(epilogue.hi);
  record.set("HasBias", int{epilogue.bias.has_value()}).set("HasReLU", int{is_relu}).set("HasSparseWeights", 0);
  record.set("HasDynamicFilter", int{weights && !weights->is_constant});
  record.set("HasDynamicBias", 0).set("HasResidual", int{epilogue.residual.has_value()});
  record.set("Activation", is_relu ? "RELU" : clips ? "CLIP" : "NONE");
}

std::string padding_mode(const steps::Window& window) {
  return window.same_upper ? "kSAME_UPPER" : window.same_lower ? "kSAME_LOWER" : "kEXPLICIT_ROUND_DOWN";
}

/// The padding of a window over `in` that makes `out`: in front and behind. `behind` is left out where extents decide
/// it and are not known.
void set_padding(Record& record, const steps::Window& window, const InspectedTensor* in, const InspectedTensor* out) {
  std::vector<int64_t> front = list(window.pads), behind;
  for (size_t i = 0; in && out && i < window.kernel.size(); ++i) {
    const int64_t from = in->extents[2 + i], to = out->extents[2 + i];
    if (from < 0 || to < 0) break;
    const int64_t lacking = std::max<int64_t>((to - 1) * window.strides[i] + window.reach(i) - from, 0);
    if (window.is_same()) front[i] = window.same_upper ? lacking / 2 : lacking - lacking / 2;
    behind.push_back(std::max<int64_t>(lacking - front[i], 0));
  }
  record.set("PaddingMode", padding_mode(window)).set("PrePadding", std::move(front));
  if (behind.size() == window.kernel.size()) record.set("PostPadding", std::move(behind));
}

/// A convolution's. Of a deconvolution `in` is its output, which its windows look at.
Record window_layer(std::string_view type, const InspectedStep& of, const steps::Window& window, bool is_transposed,
                    int64_t groups, const steps::Epilogue& epilogue) {
  const InspectedTensor* x = input(of, 0);
  const InspectedTensor* y = of.outputs.empty() ? nullptr : &of.outputs[0];
  Record record;
  record.set("ParameterType", type).set("Kernel", list(window.kernel));
  set_padding(record, window, is_transposed ? y : x, is_transposed ? x : y);
  record.set("Stride", list(window.strides)).set("Dilation", list(window.dilations));
  if (y && y->extents.size() > 1) record.set("OutMaps", y->extents[1]);
  record.set("Groups", groups);
  set_epilogue(record, of, epilogue);
  return record;
}

Record pooling(const InspectedStep& of, const steps::Pooling& step) {
  static constexpr std::string_view kKinds[] = {"MAX", "AVERAGE", "MAX_AVERAGE_BLEND"};
  Record record;
  record.set("ParameterType", "Pooling").set("PoolingType", kKinds[static_cast<size_t>(step.kind)]);
  record.set("WindowSize", list(step.window.kernel));
  set_padding(record, step.window, input(of, 0), of.outputs.empty() ? nullptr : &of.outputs[0]);
  if (!step.window.is_same()) record.set("PostPadding", list(step.post_pads));
  record.set("Stride", list(step.window.strides)).set("BlendFactor", step.blend);
  return record.set("AverageCountExcludesPadding", int{step.excludes_padding});
}

Record product(const InspectedStep& of, const ops::MatrixMultiply& op, const steps::Epilogue& epilogue) {
  Record record;
  record.set("ParameterType", "MatrixMultiply").set("MatrixOpA", enumerator(op.a)).set("MatrixOpB", enumerator(op.b));
  set_epilogue(record, of, epilogue);
  return record;
}

Record shuffle(const steps::Transpose& step) {
  std::vector<int64_t> second;
  for (size_t i = 0; i < step.perm.size(); ++i) second.push_back(static_cast<int64_t>(i));
  Record record;
  record.set("ParameterType", "Shuffle").set("FirstTranspose", step.perm).set("SecondTranspose", std::move(second));
  return record.set("Reshape", "nbDims=-1").set("ZeroIsPlaceholder", 1);
}

Record resize(const InspectedStep& of, const ops::Resize& op) {
  std::vector<double> scales = op.scales;
  const InspectedTensor* x = input(of, 0);
  for (size_t i = 0; scales.empty() && x && !of.outputs.empty() && i < x->extents.size(); ++i) {
    const int64_t from = x->extents[i], to = of.outputs[0].extents[i];
    if (from <= 0 || to < 0) break;
    if (i + 1 < x->extents.size()) continue;
    for (size_t k = 0; k <= i; ++k)
      scales.push_back(static_cast<double>(of.outputs[0].extents[k]) / static_cast<double>(x->extents[k]));
  }
  Record record;
  record.set("ParameterType", "Resize").set("ResizeMode", enumerator(op.mode)).set("ResizeScales", std::move(scales));
  record.set("NNRounding", enumerator(op.rounding)).set("CoordTransform", enumerator(op.coordinate));
  return record.set("ResizeSelector", enumerator(op.selector));
}

/// Parameters are a start an axis, then a stride an axis.
Record slice(const InspectedStep& of, const steps::Slice& step) {
  const auto half = of.params.begin() + static_cast<ptrdiff_t>(of.params.size() / 2);
  Record record;
  record.set("ParameterType", "Slice").set("Start", std::vector<int64_t>(of.params.begin(), half));
  record.set("Stride", std::vector<int64_t>(half, of.params.end()));
  if (!of.outputs.empty()) record.set("Size", list(of.outputs[0].extents));
  return record.set("Mode", enumerator(step.mode));
}

/// Axes are kept by their positions in memory.
std::vector<int64_t> axes_of(const InspectedStep& of, std::span<const int> positions) {
  std::vector<int64_t> axes;
  for (const int position : positions) axes.push_back(of.inputs[0].format.axis_at(position));
  std::ranges::sort(axes);
  return axes;
}

Record pointwise(const InspectedStep& of) {
  Datum::List operations;
  for (size_t at = 0; at < of.ops.size();) {
    const size_t end = std::min(of.ops.find(" + ", at), of.ops.size());
    operations.emplace_back(of.ops.substr(at, end - at));
    at = end + 3;
  }
  const auto count = static_cast<int64_t>(operations.size());
  Record record;
  record.set("ParameterType", "PointWise").set("NbInputArgs", static_cast<int64_t>(of.inputs.size()));
  record.set("NbOutputVars", static_cast<int64_t>(of.outputs.size()));
  return record.set("NbOperations", count).set("Operations", std::move(operations));
}

}  // namespace

Record layer_parameters(const InspectedStep& of) {
  if (const auto* step = of.step.as<steps::Convolution>())
    return window_layer("Convolution", of, step->window, false, step->groups, step->epilogue);
  if (const auto* step = of.step.as<steps::QuantizedConvolution>())
    return window_layer("Convolution", of, step->window, false,
                        step->is_depthwise && input(of, 1) ? input(of, 1)->extents[0] : 1, step->epilogue);
  if (const auto* step = of.step.as<steps::Deconvolution>())
    return window_layer("Deconvolution", of, step->window, true, step->groups, step->epilogue);
  if (const auto* step = of.step.as<steps::Pooling>()) return pooling(of, *step);
  if (const auto* step = of.step.as<steps::MatrixMultiply>()) return product(of, step->op, step->epilogue);
  if (const auto* step = of.step.as<steps::QuantizedMatrixMultiply>()) return product(of, step->op, step->epilogue);
  if (const auto* step = of.step.as<steps::Transpose>()) return shuffle(*step);
  if (const auto* step = of.step.as<steps::Resize>()) return resize(of, step->op);
  if (const auto* step = of.step.as<steps::Slice>()) return slice(of, *step);
  if (of.step.as<steps::Copy>()) return Record().set("ParameterType", "Reformat").set("Origin", "REFORMAT");
  if (of.step.as<steps::Nest>()) return pointwise(of);
  if (const auto* step = of.step.as<steps::Softmax>())
    return Record().set("ParameterType", "SoftMax").set("Axes", axes_of(of, std::span(&step->axis, 1)));
  if (const auto* step = of.step.as<steps::Reduce>())
    return Record()
        .set("ParameterType", "Reduce")
        .set("Operation", enumerator(step->kind))
        .set("Axes", axes_of(of, step->axes));
  return {};
}

}  // namespace kiln::plan
