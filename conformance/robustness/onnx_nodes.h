/// ONNX models of one node, from a line of text, and the numbers in it that a test may replace.
///
/// For example
///
///   Slice | x[4,6], I{1}, I{3}, I{0} | axis=1, pads=[0,1], alpha=~0.5, mode='linear'
///
/// An extent of -1 varies. Inputs: x[..] f32, h[..] f16, i[..] i64, u[..] u8, b[..] bool of the
/// network; I{..} i64, F{..} f32
/// constants, I:n and F:n scalars; W[..] f32 ones; _ for none. "Op@13 x2" would be version 13 of Op with two outputs.
/// "microsoft:Op" is of domain com.microsoft, "ml:Op" of ai.onnx.ml.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace robustness {

struct NodeInput {
  char kind = '_';               ///< as above
  bool is_scalar = false;        ///< of a constant
  std::vector<int64_t> numbers;  ///< extents, or elements
  std::vector<float> floats;     ///< elements of F
};
struct NodeAttribute {
  std::string name;
  enum class Kind { kInt, kInts, kFloat, kText } kind = Kind::kInt;
  std::vector<int64_t> numbers;
  float number = 0;
  std::string text;
};
struct NodeText {
  std::string domain, op;
  int64_t version = 20;
  int num_outputs = 1;
  std::vector<NodeInput> inputs;
  std::vector<NodeAttribute> attributes;
};

NodeText parse_node(std::string_view line);
std::string describe(const NodeText& node);

/// How inputs of the network come about.
enum class Inputs {
  kOfNetwork,     ///< with constant extents
  kOfConstants,   ///< ConstantOfShape makes them
  kOfShapeInputs  ///< ConstantOfShape makes them, of a shape that a shape input says
};
std::string onnx_model(const NodeText& node, Inputs inputs);

}  // namespace robustness
