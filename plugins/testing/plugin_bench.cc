#include "testing/plugin_bench.h"

#include <NvInfer.h>
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>

#include "api/base/convert.h"
#include "api/onnx/create.h"
#include "tensor/host_tensor.h"
#include "tensor/view.h"
#include "testing/holders.h"
#include "testing/onnx_model.h"
#include "testing/other_library.h"

namespace kiln::plugins::testing {
namespace {

using api::testing::Running;
using api::testing::Shared;
using api::testing::Workbench;

nv::Dims dims_of(const std::vector<int64_t>& extents) {
  nv::Dims dims{static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), dims.d);
  return dims;
}

DType dtype_of(nv::DataType type) { return api::from_api(type).value(); }

Tensor tensor_of(nv::DataType type, const std::vector<int64_t>& extents, const Shared<std::byte>& bytes) {
  Tensor tensor{extents, {}, type};
  const Extents shape(extents.begin(), extents.end());
  const View view(HostTensor(dtype_of(type), shape, std::span(bytes.data(), bytes.size()), nullptr));
  for (int64_t i = 0; i < view.volume(); ++i) tensor.values.push_back(static_cast<double>(view[i]));
  return tensor;
}

/// The logger that the library of plugins was given, which it keeps.
api::testing::Logger& plugin_logger() {
  static api::testing::Logger& logger = *new api::testing::Logger;
  return logger;
}

/// The program around one plugin.
class Bench {
 public:
  Bench(Way way, const std::vector<Tensor>& inputs, const std::vector<float>& output_ranges)
      : way_(way), inputs_(inputs), output_ranges_(output_ranges), w_(flags_for(inputs)) {
    plugin_logger().errors.clear();
    EXPECT_TRUE(register_plugins(&plugin_logger()));
    w_.config->clearFlag(nv::BuilderFlag::kTF32);  // references are exact
    w_.config->setProfilingVerbosity(nv::ProfilingVerbosity::kDETAILED);
    if (std::ranges::any_of(inputs, [](const Tensor& x) { return x.range > 0; }))
      w_.config->setFlag(nv::BuilderFlag::kINT8);
  }

  Outcome run(const char* plugin, const char* version, const Attributes& attributes) {
    const std::vector<nv::PluginField> fields = attributes.fields();
    const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
    const int count = is_onnx(way_) ? parse(plugin, version, attributes) : add_layer(plugin, version, collection);
    if (count == 0) return {{}, errors()};
    for (int i = 0; i < w_->getNbOutputs(); ++i)
      if (const auto at = static_cast<size_t>(i); at < output_ranges_.size())
        set_range(w_->getOutput(i), output_ranges_[at]);
    Running running(w_);
    if (!running.context) return {{}, running.error + errors()};
    return run(running, w_->getNbOutputs());
  }

 private:
  static nv::NetworkDefinitionCreationFlags flags_for(const std::vector<Tensor>& inputs) {
    const bool has_bytes = std::ranges::any_of(inputs, [](const Tensor& x) { return x.type == nv::DataType::kINT8; });
    return has_bytes ? 1U << static_cast<uint32_t>(nv::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED) : 0U;
  }
  static void set_range(nv::ITensor* tensor, float range) {
    if (range > 0) tensor->setDynamicRange(-range, range);
  }

  /// The number of the network's outputs, 0 where the plugin was refused.
  int add_layer(const char* plugin, const char* version, const nv::PluginFieldCollection& fields) {
    nv::ILayer* const layer = add(plugin, version, fields);
    for (int i = 0; layer && i < layer->getNbOutputs(); ++i) {
      layer->getOutput(i)->setName(str("y", i).c_str());
      w_->markOutput(*layer->getOutput(i));
    }
    return w_->getNbOutputs();
  }
  /// Reads the plugin from an ONNX model instead. Returns the number of outputs, 0 where the plugin was refused.
  int parse(const char* plugin, const char* version, const Attributes& attributes) {
    const auto place = way_ == Way::kOnnx ? NodePlace::kMain : NodePlace::kBranch;
    model_ = onnx_model(plugin, version, attributes, inputs_, static_cast<int>(output_ranges_.size()), place).value();
    const std::unique_ptr<nvonnxparser::IParser> parser(
        static_cast<nvonnxparser::IParser*>(api::create_parser(w_.network.get(), &w_.logger, NV_ONNX_PARSER_VERSION)));
    if (!parser->parse(model_.data(), model_.size(), nullptr)) return 0;
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (int k = 0; k < w_->getNbInputs(); ++k)
        if (w_->getInput(k)->getName() == str("x", i)) set_range(w_->getInput(k), inputs_[i].range);
    return w_->getNbOutputs();
  }

  nv::ILayer* add(const char* plugin, const char* version, const nv::PluginFieldCollection& fields) {
    std::vector<nv::ITensor*> tensors = add_inputs();
    nv::IPluginCreatorInterface* const creator = getPluginRegistry()->getCreator(plugin, version);
    EXPECT_NE(creator, nullptr) << plugin << ' ' << version;
    if (!creator) return nullptr;
    const auto count = static_cast<int32_t>(tensors.size());
    if (std::strcmp(creator->getInterfaceInfo().kind, "PLUGIN CREATOR_V3ONE") == 0) {
      std::unique_ptr<nv::IPluginV3> made(
          static_cast<nv::IPluginCreatorV3One*>(creator)->createPlugin("plugin", &fields, nv::TensorRTPhase::kBUILD));
      if (!made) return nullptr;
      if (way_ == Way::kEnqueue) made = hold(std::move(made));
      return w_->addPluginV3(tensors.data(), count, nullptr, 0, *made);
    }
    OwnedV2 made(static_cast<nv::IPluginCreator*>(creator)->createPlugin("plugin", &fields));
    if (!made) return nullptr;
    if (way_ == Way::kEnqueue) made = hold(std::move(made));
    return w_->addPluginV2(tensors.data(), count, *made);
  }

  std::vector<nv::ITensor*> add_inputs() {
    std::vector<nv::ITensor*> tensors;
    nv::IOptimizationProfile* const profile = w_.builder->createOptimizationProfile();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      nv::Dims dims = dims_of(inputs_[i].extents);
      if (inputs_[i].is_constant) {
        const Shared<std::byte>& bytes = constants_.emplace_back(bytes_of(inputs_[i]));
        tensors.push_back(
            w_->addConstant(dims, {inputs_[i].type, bytes.data(), volume(inputs_[i].extents)})->getOutput(0));
        continue;
      }
      const std::string name = str("x", i);
      for (const auto which :
           {nv::OptProfileSelector::kMIN, nv::OptProfileSelector::kOPT, nv::OptProfileSelector::kMAX})
        profile->setDimensions(name.c_str(), which, dims);
      if (way_ == Way::kDynamicLayers) std::fill_n(dims.d, dims.nbDims - inputs_[i].known_axes, -1);
      tensors.push_back(w_->addInput(name.c_str(), inputs_[i].type, dims));
      set_range(tensors.back(), inputs_[i].range);
    }
    if (way_ == Way::kDynamicLayers) w_.config->addOptimizationProfile(profile);
    return tensors;
  }

  Outcome run(Running& running, int num_outputs) {
    std::vector<Shared<std::byte>> memory;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      memory.push_back(bytes_of(inputs_[i]));
      if (inputs_[i].is_constant) continue;
      const std::string name = str("x", i);
      running.context->setInputShape(name.c_str(), dims_of(inputs_[i].extents));
      running.context->setTensorAddress(name.c_str(), memory.back().data());
    }
    Shared<std::byte> condition{std::byte{1}};
    if (way_ == Way::kOnnxBranch) running.context->setTensorAddress("c", condition.data());
    Outcome outcome;
    for (int i = 0; i < num_outputs; ++i) {
      const std::string name = str("y", i);
      const nv::Dims dims = running.context->getTensorShape(name.c_str());
      outcome.outputs.push_back({std::vector<int64_t>(dims.d, dims.d + std::max(dims.nbDims, 0)),
                                 {},
                                 running.engine->getTensorDataType(name.c_str())});
      memory.emplace_back(static_cast<size_t>(std::max<int64_t>(volume(outcome.outputs.back().extents), 0)) * 8);
      running.context->setTensorAddress(name.c_str(), memory.back().data());
    }
    if (!running.run()) return {{}, running.last_error() + errors()};
    outcome.has_plugin = has_plugin(*running.engine);
    for (size_t i = 0; i < outcome.outputs.size(); ++i)
      outcome.outputs[i] = tensor_of(outcome.outputs[i].type, outcome.outputs[i].extents, memory[inputs_.size() + i]);
    return outcome;
  }

  static bool has_plugin(nv::ICudaEngine& engine) {
    const std::unique_ptr<nv::IEngineInspector> inspector(engine.createEngineInspector());
    const std::string steps = inspector->getEngineInformation(nv::LayerInformationFormat::kJSON);
    return steps.find("\"LayerType\": \"Plugin\"") != std::string::npos;
  }

  std::string errors() const {
    std::string all;
    for (const auto& logged : {plugin_logger().errors, w_.logger.errors})
      for (const std::string& one : logged) all += one + "\n";
    return all;
  }

  Way way_;
  const std::vector<Tensor>& inputs_;
  const std::vector<float>& output_ranges_;
  std::deque<Shared<std::byte>> constants_;
  std::string model_;  ///< an ONNX model, whose bytes the parser may borrow
  Workbench w_;
};

}  // namespace

Shared<std::byte> bytes_of(const Tensor& tensor) {
  const HostTensor host =
      HostTensor::of(dtype_of(tensor.type), Extents(tensor.extents.begin(), tensor.extents.end()), tensor.values);
  return {host.bytes().begin(), host.bytes().end()};
}

int64_t volume(const std::vector<int64_t>& extents) {
  int64_t result = 1;
  for (const int64_t extent : extents) result *= extent;
  return result;
}

Tensor noise(std::vector<int64_t> extents, int seed, nv::DataType type) {
  Tensor tensor{std::move(extents), {}, type};
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761U + 1;
  for (int64_t i = 0; i < volume(tensor.extents); ++i) {
    state = state * 1664525U + 1013904223U;
    // Multiples of 1/1024 are exact in halves, too.
    tensor.values.push_back(static_cast<double>(state >> 21U) / 1024 - 1);
  }
  return tensor;
}

Tensor in_halves(Tensor tensor) {
  if (tensor.type != nv::DataType::kFLOAT) return tensor;
  tensor.type = nv::DataType::kHALF;
  for (double& value : tensor.values) value = static_cast<double>(static_cast<_Float16>(value));
  return tensor;
}
std::vector<Tensor> in_halves(std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) tensor = in_halves(std::move(tensor));
  return tensors;
}

Tensor as_constant(Tensor tensor) {
  tensor.is_constant = true;
  return tensor;
}
Tensor within(Tensor tensor, float range) {
  tensor.range = range;
  return tensor;
}
Tensor in_bytes(Tensor tensor) {
  const double step = static_cast<double>(tensor.range) / 127;
  for (double& value : tensor.values) value = std::clamp(std::nearbyint(value / step), -128.0, 127.0) * step;
  return tensor;
}

Tensor ints(std::vector<int64_t> extents, std::vector<double> values) {
  return {std::move(extents), std::move(values), nv::DataType::kINT32};
}

Attributes& Attributes::add(const char* name, nv::PluginFieldType type, const void* data, size_t count, size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  std::erase_if(all_, [&](const Attribute& one) { return one.name == name; });
  all_.push_back({name, type, static_cast<int32_t>(count), {bytes, bytes + count * size}});
  return *this;
}
Attributes& Attributes::set(const char* name, std::vector<int32_t> values) {
  return add(name, nv::PluginFieldType::kINT32, values.data(), values.size(), sizeof(int32_t));
}
Attributes& Attributes::set(const char* name, std::vector<float> values) {
  return add(name, nv::PluginFieldType::kFLOAT32, values.data(), values.size(), sizeof(float));
}
Attributes& Attributes::set(const char* name, std::string text) {
  add(name, nv::PluginFieldType::kCHAR, text.c_str(), text.size() + 1, 1);
  --all_.back().length;  // the zero behind the text is none of its letters
  return *this;
}
Attributes& Attributes::set(const char* name, nv::Dims dims) {
  return add(name, nv::PluginFieldType::kDIMS, &dims, 1, sizeof dims);
}
Attributes& Attributes::erase(const char* name) {
  std::erase_if(all_, [&](const Attribute& one) { return one.name == name; });
  return *this;
}
Attributes& Attributes::set_null(const char* name) {
  all_.push_back({name, nv::PluginFieldType::kINT32, 1, {}});
  return *this;
}
std::vector<nv::PluginField> Attributes::fields() const {
  std::vector<nv::PluginField> fields;
  for (const Attribute& one : all_)
    fields.emplace_back(one.name.c_str(), one.data.empty() ? nullptr : one.data.data(), one.type, one.length);
  return fields;
}

const char* name_of(Way way) {
  switch (way) {
    case Way::kLayers: return "layers";
    case Way::kDynamicLayers: return "layers of dynamic shapes";
    case Way::kEnqueue: return "enqueue";
    case Way::kOnnx: return "a node of ONNX";
    case Way::kOnnxBranch: return "a node in a branch of ONNX";
  }
  return "?";
}

Outcome run(Way way, const char* plugin, const char* version, const Attributes& attributes,
            const std::vector<Tensor>& inputs, const std::vector<float>& output_ranges) {
  return Bench(way, inputs, output_ranges).run(plugin, version, attributes);
}

void expect_outputs(const char* plugin, const char* version, const Attributes& attributes,
                    const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs, double tolerance,
                    std::span<const Way> ways) {
  std::vector<float> ranges;
  for (const Tensor& y : outputs) ranges.push_back(y.range);
  for (const Way way : ways) {
    if (is_onnx(way) && !has_onnx_form(attributes)) continue;
    SCOPED_TRACE(str(plugin, ' ', version, " by ", name_of(way)));
    const Outcome got = run(way, plugin, version, attributes, inputs, ranges);
    EXPECT_EQ(got.error, "");
    ASSERT_EQ(got.outputs.size(), outputs.size());
    EXPECT_EQ(got.has_plugin, way == Way::kEnqueue || are_of_other_library());
    for (size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE(str("output ", i));
      EXPECT_EQ(got.outputs[i].type, outputs[i].type);
      ASSERT_EQ(got.outputs[i].extents, outputs[i].extents);
      int reported = 0;
      for (size_t k = 0; k < outputs[i].values.size() && reported < 5; ++k) {
        const double want = outputs[i].values[k], is = got.outputs[i].values[k];
        const bool near = want == is || std::abs(want - is) <= tolerance * std::max(1.0, std::abs(want));
        if (!near) ++reported;
        EXPECT_TRUE(near) << "element " << k << " is " << is << ", not " << want;
      }
    }
  }
}

std::string error_of(const char* plugin, const char* version, const Attributes& attributes,
                     const std::vector<Tensor>& inputs) {
  return run(Way::kLayers, plugin, version, attributes, inputs).error;
}

}  // namespace kiln::plugins::testing
