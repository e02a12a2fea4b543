/// Runs of one standard plugin, in the ways in which programs run it.
#pragma once

#include <NvInfer.h>

#include <span>
#include <string>
#include <vector>

#include "api/build/testing/workbench.h"

namespace kiln::plugins::testing {

namespace nv = nvinfer1;

/// A tensor in doubles, whatever its type.
struct Tensor {
  std::vector<int64_t> extents;
  std::vector<double> values;
  nv::DataType type = nv::DataType::kFLOAT;
  int known_axes = 0;        ///< from the back: they are known when networks are built, also with dynamic shapes
  float range = 0;           ///< a dynamic range of -range to range, under BuilderFlag::kINT8; 0: none
  bool is_constant = false;  ///< of the network, and no input
};
/// The tensor with a dynamic range.
Tensor within(Tensor tensor, float range);
/// The tensor as bytes by its range give it: each number is the multiple of range / 127 next to it, from -128 to 127.
Tensor in_bytes(Tensor tensor);
Tensor as_constant(Tensor tensor);
int64_t volume(const std::vector<int64_t>& extents);
/// Numbers between -1 and 1 that look random, the same ones for the same seed.
Tensor noise(std::vector<int64_t> extents, int seed, nv::DataType type = nv::DataType::kFLOAT);
/// The elements as memory has them.
api::testing::Shared<std::byte> bytes_of(const Tensor& tensor);
/// Tensors of floats as tensors of halves, whose values are rounded; others as they are.
Tensor in_halves(Tensor tensor);
std::vector<Tensor> in_halves(std::vector<Tensor> tensors);
/// Tolerance of results in half precision: a rounding changes 2^-11 of a number, and some steps between inputs and
/// outputs round.
constexpr double kHalfTolerance = 0x1p-9;
Tensor ints(std::vector<int64_t> extents, std::vector<double> values);

/// Attributes, as a program hands them over.
class Attributes {
 public:
  Attributes& set(const char* name, std::vector<int32_t> values);
  Attributes& set(const char* name, std::vector<float> values);
  Attributes& set(const char* name, std::string text);
  Attributes& set(const char* name, nv::Dims dims);
  Attributes& erase(const char* name);
  Attributes& set_null(const char* name);  ///< one of length 1, whose data are null
  std::vector<nv::PluginField> fields() const;

 private:
  struct Attribute {
    std::string name;
    nv::PluginFieldType type;
    int32_t length;
    std::vector<std::byte> data;
  };
  Attributes& add(const char* name, nv::PluginFieldType type, const void* data, size_t count, size_t size);
  std::vector<Attribute> all_;
};

enum class Way {
  kLayers,         ///< the builder puts layers in the plugin's place
  kDynamicLayers,  ///< so it does where all extents are known at run time alone
  kEnqueue,        ///< a plugin of the program's that has a standard one inside, and hands it its calls
  kOnnx,           ///< a node of an ONNX model, which layers take the place of
  kOnnxBranch      ///< such a node in each branch of an If, whose condition the run decides
};
inline constexpr Way kWays[] = {Way::kLayers, Way::kDynamicLayers, Way::kEnqueue, Way::kOnnx};
inline constexpr Way kAllWays[] = {Way::kLayers, Way::kDynamicLayers, Way::kEnqueue, Way::kOnnx, Way::kOnnxBranch};
constexpr bool is_onnx(Way way) { return way == Way::kOnnx || way == Way::kOnnxBranch; }
const char* name_of(Way way);

struct Outcome {
  std::vector<Tensor> outputs;
  std::string error;        ///< of creating, building or running; empty if there was none
  bool has_plugin = false;  ///< whether the engine has a step that is a plugin
};
/// A network with bytes as inputs is strongly typed. `output_ranges` are those of the outputs, 0 where one has none;
/// empty: none has one, and the plugin is no node of ONNX.
Outcome run(Way way, const char* plugin, const char* version, const Attributes& attributes,
            const std::vector<Tensor>& inputs, const std::vector<float>& output_ranges = {});

/// Expects each way that has a form for the attributes to be the one that ran, and to give the outputs within
/// `tolerance`, relative to the greater of 1 and the value.
void expect_outputs(const char* plugin, const char* version, const Attributes& attributes,
                    const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs, double tolerance = 1e-5,
                    std::span<const Way> ways = kWays);
/// The error of adding, or building by layers, a plugin that does not fit.
std::string error_of(const char* plugin, const char* version, const Attributes& attributes,
                     const std::vector<Tensor>& inputs);

}  // namespace kiln::plugins::testing
