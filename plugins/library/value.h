/// Tensors of a network under construction as values to calculate with: how standard plugins say what they compute.
/// What cannot be added makes a value without a tensor, and so do operations on such; the network's logger has been
/// told why, and who adds layers looks at the end (Layers::failed).
#pragma once

#include <NvInfer.h>

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kiln::plugins {

namespace nv = nvinfer1;

class Layers;
class Extent;
using Extents = std::vector<Extent>;
using Axes = std::vector<int>;  ///< negative ones count from the back

class Value {
 public:
  Value() = default;
  Value(Layers& layers, nv::ITensor* tensor) : layers_(&layers), tensor_(tensor) {}
  nv::ITensor* tensor() const { return tensor_; }  ///< null after a failure
  Layers& layers() const { return *layers_; }

  nv::DataType type() const { return tensor_ ? tensor_->getType() : nv::DataType::kFLOAT; }
  int rank() const { return tensor_ ? tensor_->getDimensions().nbDims : 0; }
  Extent extent(int axis) const;
  Extents extents() const;

  Value cast(nv::DataType type) const;
  Value f32() const { return cast(nv::DataType::kFLOAT); }
  Value i32() const { return cast(nv::DataType::kINT32); }

 private:
  Layers* layers_ = nullptr;
  nv::ITensor* tensor_ = nullptr;
};

/// A length: a number, or what a run tells, an i64 tensor of shape [1].
class Extent {
 public:
  Extent(int64_t number) : number_(number) {}  // NOLINT(google-explicit-constructor): lists of extents are readable
  explicit Extent(Value value) : value_(value) {}
  std::optional<int64_t> number() const { return number_; }
  Value value(Layers& layers) const;                  ///< i64 [1]
  Layers& layers() const { return value_.layers(); }  ///< of what a run tells

 private:
  std::optional<int64_t> number_;
  Value value_;
};
Extent operator+(const Extent& a, const Extent& b);
Extent operator-(const Extent& a, const Extent& b);
Extent operator*(const Extent& a, const Extent& b);
Extent operator/(const Extent& a, const Extent& b);  ///< rounds down
Extent min(const Extent& a, const Extent& b);
Extent max(const Extent& a, const Extent& b);

/// The network that values are added to. It keeps the weights of constants, so that it outlives the build.
class Layers {
 public:
  explicit Layers(nv::INetworkDefinition& network) : network_(network) {}
  Layers(const Layers&) = delete;
  nv::INetworkDefinition& network() { return network_; }

  Value constant(nv::Dims dims, std::vector<float> elements);
  Value constant(nv::Dims dims, std::vector<int32_t> elements);
  Value constant(nv::Dims dims, std::vector<int64_t> elements);
  /// Elements of any type, which are copied.
  Value constant(nv::Dims dims, nv::DataType type, const void* elements, size_t size_bytes);
  Value scalar(double number, nv::DataType type, int rank = 0);
  /// `number` everywhere.
  Value full(const Extents& extents, double number, nv::DataType type);
  /// 0, 1, 2, ...: [length].
  Value iota(const Extent& length, nv::DataType type);
  Value shape_tensor(const Extents& extents);  ///< i64 [extents.size()]

  /// Output 0 of a layer; takes note if the layer is null, which then was refused.
  Value output(nv::ILayer* layer, int index = 0);
  /// Fails the run, when shapes are told, unless the condition is true: bools that extents decide. The error has the
  /// text, behind what the layers are of.
  void require(const Value& condition, const std::string& text);
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }

 private:
  nv::INetworkDefinition& network_;
  std::deque<std::vector<std::byte>> kept_;
  std::string subject_;  ///< what the layers are of, for errors
  bool failed_ = false;
};

nv::Dims dims_of(std::initializer_list<int64_t> extents);
nv::Dims dims_of(std::span<const int64_t> extents);
int axis_of(const Value& x, int axis);  ///< counted from the front

/// A value, or a number, which becomes of the other operand's type. Of two operands one is a value.
class Operand {
 public:
  Operand(const Value& value) : value_(value) {}  // NOLINT(google-explicit-constructor): formulas are readable
  Operand(double number) : number_(number) {}     // NOLINT(google-explicit-constructor)
  std::optional<double> number() const { return number_; }
  const Value& value() const { return value_; }

 private:
  std::optional<double> number_;
  Value value_;
};

// Element by element. Ranks that differ are made equal by extents of 1 in front.
Value binary(const Operand& a, const Operand& b, nv::ElementWiseOperation operation);
inline Value operator+(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kSUM); }
inline Value operator-(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kSUB); }
inline Value operator*(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kPROD); }
inline Value operator/(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kDIV); }
inline Value floor_div(const Operand& a, const Operand& b) {
  return binary(a, b, nv::ElementWiseOperation::kFLOOR_DIV);
}
inline Value min(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kMIN); }
inline Value max(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kMAX); }
inline Value operator<(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kLESS); }
inline Value operator>(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kGREATER); }
inline Value operator==(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kEQUAL); }
inline Value operator&&(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kAND); }
inline Value operator||(const Operand& a, const Operand& b) { return binary(a, b, nv::ElementWiseOperation::kOR); }
Value unary(const Value& x, nv::UnaryOperation operation);
inline Value exp(const Value& x) { return unary(x, nv::UnaryOperation::kEXP); }
inline Value log(const Value& x) { return unary(x, nv::UnaryOperation::kLOG); }
inline Value sqrt(const Value& x) { return unary(x, nv::UnaryOperation::kSQRT); }
inline Value abs(const Value& x) { return unary(x, nv::UnaryOperation::kABS); }
inline Value operator-(const Value& x) { return unary(x, nv::UnaryOperation::kNEG); }
inline Value operator!(const Value& x) { return unary(x, nv::UnaryOperation::kNOT); }
inline Value floor(const Value& x) { return unary(x, nv::UnaryOperation::kFLOOR); }
inline Value ceil(const Value& x) { return unary(x, nv::UnaryOperation::kCEIL); }
inline Value round(const Value& x) { return unary(x, nv::UnaryOperation::kROUND); }
inline Value operator>=(const Operand& a, const Operand& b) { return !(a < b); }
inline Value operator<=(const Operand& a, const Operand& b) { return !(a > b); }
Value activation(const Value& x, nv::ActivationType type, float alpha = 0, float beta = 0);
inline Value sigmoid(const Value& x) { return activation(x, nv::ActivationType::kSIGMOID); }
inline Value tanh(const Value& x) { return activation(x, nv::ActivationType::kTANH); }
Value clamp(const Value& x, double least, double most);
Value select(const Value& condition, const Value& yes, const Value& no);
Value select(const Value& condition, const Value& yes, double no);
Value softmax(const Value& x, int axis);
/// i8: x / scale, rounded to the nearest, ties to even, between -128 and 127.
Value quantized(const Value& x, double scale);
/// f32: x * scale of an i8 x.
Value dequantized(const Value& x, double scale);

// Reductions and products.
Value reduce(const Value& x, nv::ReduceOperation operation, const Axes& axes, bool keep = true);
inline Value sum(const Value& x, const Axes& axes, bool keep = true) {
  return reduce(x, nv::ReduceOperation::kSUM, axes, keep);
}
inline Value mean(const Value& x, const Axes& axes, bool keep = true) {
  return reduce(x, nv::ReduceOperation::kAVG, axes, keep);
}
inline Value max_of(const Value& x, const Axes& axes, bool keep = true) {
  return reduce(x, nv::ReduceOperation::kMAX, axes, keep);
}
/// Brings x to mean 0 and variance 1 along the axes: (x - mean) / sqrt(variance + eps).
Value normalized(const Value& x, const Axes& axes, double eps);
enum class Transposed : bool { kNo, kYes };
Value matmul(const Value& a, const Value& b, Transposed a_is = Transposed::kNo, Transposed b_is = Transposed::kNo);
Value cumulative_sum(const Value& x, int axis);
struct TopK {
  Value values, indices;  ///< the greatest first
};
constexpr int64_t kMostOfTopK = 3840;  ///< the greatest `k`
TopK top_k(const Value& x, const Extent& k, int axis);
/// [n, 3]: image, class and box of what stays, by image and class, the best first. boxes [N, B, 4] or [N, B, C, 4] as
/// two corners, scores [N, B, C]. Of a class only so many of the best scores are `candidates`; -1: all.
Value non_max_suppression(const Value& boxes, const Value& scores, int64_t most_of_class, double iou_threshold,
                          double score_threshold, int64_t candidates = -1);

/// The elements of a constant of i32 or i64, also behind casts between these; nothing of what a run tells. Looks
/// through all layers of the network.
std::optional<std::vector<int64_t>> known_integers(const Value& x);

// Elements elsewhere.
Value reshape(const Value& x, const Extents& extents);
Value unsqueeze(const Value& x, const Axes& axes);  ///< axes of the result
Value squeeze(const Value& x, const Axes& axes);
Value transpose(const Value& x, const std::vector<int>& permutation);
Value concat(const std::vector<Value>& parts, int axis);
/// Elements start, start + stride, ... along one axis.
Value slice(const Value& x, int axis, const Extent& start, const Extent& size, int64_t stride = 1);
Value pick(const Value& x, int axis, int64_t index);  ///< one element of the axis, which goes
std::vector<Value> split(const Value& x, int axis, const std::vector<int64_t>& sizes);
Value broadcast(const Value& x, const Extents& extents);  ///< axes of extent 1 grow; ranks are equal
Value pad(const Value& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after, double number = 0);
Value gather(const Value& x, const Value& indices, int axis);
Value gather_nd(const Value& x, const Value& indices, int batch_axes = 0);
Value gather_elements(const Value& x, const Value& indices, int axis);
Value scatter_elements(const Value& data, const Value& indices, const Value& updates, int axis);
Value scatter_nd(const Value& data, const Value& indices, const Value& updates);

}  // namespace kiln::plugins
