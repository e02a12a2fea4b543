/// A plugin as the compiler and the runtime see it, whatever interface its author wrote it against: src/plugin makes
/// these of TensorRT's classes. Every call runs code of the program.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/field.h"
#include "ops/infer_context.h"
#include "ops/plugin_kernel.h"
#include "tensor/field_types.h"
#include "tensor/format.h"

namespace kiln {

/// By which a registry finds what makes a plugin.
struct PluginIdentity {
  std::string name, version, plugin_namespace;
  static void reflect(auto& self, auto f) {
    f("name", self.name), f("version", self.version), f("namespace", self.plugin_namespace);
  }
  bool operator==(const PluginIdentity&) const = default;
};
void append(std::string& out, const PluginIdentity& plugin);  ///< "plugin 'Pad' version '1' of namespace 'mine'"

/// Types of a plugin's attributes, with the numbers of nvinfer1::PluginFieldType.
enum class PluginFieldType : int32_t {
  kF16,
  kF32,
  kF64,
  kI8,
  kI16,
  kI32,
  kChar,
  kDims,
  kUnknown,  ///< bytes that the plugin alone understands
  kBF16,
  kI64,
  kF8,
  kI4,
  kF4
};
inline std::span<const std::string_view> enum_names(PluginFieldType) {
  static constexpr std::array<std::string_view, 14> kNames = {"f16",  "f32",     "f64",  "i8",  "i16", "i32", "char",
                                                              "dims", "unknown", "bf16", "i64", "f8",  "i4",  "f4"};
  return kNames;
}
/// An attribute that a plugin's creator takes, as it describes it. The type may be outside the enumeration.
struct PluginFieldDescription {
  std::string name;
  PluginFieldType type = PluginFieldType::kUnknown;
};
/// By which generation of interfaces a plan's plugin is made again.
enum class PluginGeneration : int32_t {
  kV3,    ///< from fields
  kV2,    ///< from bytes: one field of them
  kQuick  ///< from fields, by IPluginCreatorV3Quick
};
inline std::span<const std::string_view> enum_names(PluginGeneration) {
  static constexpr std::array<std::string_view, 3> kNames = {"v3", "v2", "quick"};
  return kNames;
}

/// Bytes of so many elements: the 4-bit types have two in a byte.
int64_t size_bytes(PluginFieldType type, int64_t count);

/// An attribute, as a plan keeps it.
struct PluginField {
  std::string name;
  PluginFieldType type = PluginFieldType::kUnknown;
  int64_t count = 0;  ///< of elements
  Bytes data;
  static void reflect(auto& self, auto f) {
    f("name", self.name), f("type", self.type), f("count", self.count), f("data", self.data);
  }
  /// Fails (kCorrupt) unless `data` is of `count` elements.
  Status check() const;
};

/// A tensor as a plugin is told of it. -1: an extent that is not known.
struct PluginTensor {
  DType dtype = DType::kF32;
  Format format;
  Extents extents;
  Extents min, opt, max;  ///< of the profile; builds alone have them
  float scale = 1;        ///< of an i8: what a level is worth; 1 where nothing tells
  bool operator==(const PluginTensor&) const = default;
};

/// One run. All memory is the device's.
struct PluginRun {
  const void* const* inputs;
  void* const* outputs;
  void* workspace;
  void* stream;  ///< the device's own handle; null on a host device, where the work is done when the call returns
};

/// A plugin attached to one context, which is not used by two threads at once.
class PluginInstance {
 public:
  virtual ~PluginInstance() = default;
  /// Tells the shapes of the runs that follow.
  virtual Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) = 0;
  virtual Status enqueue(const PluginRun& run) = 0;
};

class PluginObject {
 public:
  virtual ~PluginObject() = default;

  virtual const PluginIdentity& identity() const = 0;
  /// -1: a plugin that a plan's fields made does not tell.
  virtual int num_outputs() const = 0;
  /// Sets the types of the outputs. The first `num_tensors` inputs are tensors of runs, the others shape inputs.
  virtual Status infer(InferContext& cx, int num_tensors) const = 0;
  /// Whether shape inputs are possible, which plugins of version 2 have not.
  virtual bool may_have_shape_inputs() const { return true; }
  /// The outputs that tell sizes, in the order of the sizes that `infer` asked for.
  virtual const std::vector<int>& size_outputs() const = 0;

  /// By output: the input whose memory it has, which the plugin changes, or -1. Empty: none does.
  virtual std::vector<int> aliased_inputs() const { return {}; }

  /// Whether tensor `position`, inputs first, may have its type and format beside those of the tensors before it.
  virtual bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const = 0;
  /// Fails where `supports` said no because a call of the plugin's failed, in the latest search; says which.
  virtual Status search_failure() const { return {}; }
  /// Whether it is told the scale of a tensor of i8: plugins of the oldest interfaces are not.
  virtual bool knows_scales() const { return true; }
  /// The most combinations of formats that are worth timing.
  virtual int most_combinations() const = 0;
  /// A copy that is configured for these types, formats and shapes, and what it then wants.
  struct Configured {
    std::shared_ptr<const PluginObject> object;
    std::vector<int> tactics;  ///< never empty: 0 is the plugin's own choice
    int64_t workspace_bytes = 0;
    PluginGeneration generation = PluginGeneration::kV3;
    std::string timing_id;  ///< under which its times may be kept; empty: they may not
  };
  virtual Result<Configured> configure(std::span<const PluginTensor> inputs,
                                       std::span<const PluginTensor> outputs) const = 0;
  /// Whether a device launches a kernel of it, and nothing of the plugin itself: then it has no `fields`, and nothing
  /// to `attach`.
  virtual bool is_kernel() const { return false; }
  /// The kernel of a configured copy, whose launch is told in the extents of the inputs of `cx`, the node's.
  virtual Result<PluginKernel> kernel(InferContext& cx, std::span<const PluginTensor> inputs,
                                      std::span<const PluginTensor> outputs, int tactic) const;
  /// What it says of its configuration, for people.
  virtual std::string metadata() const { return {}; }
  /// What makes a configured copy again. Asked once, of what a plan keeps.
  virtual Result<std::vector<PluginField>> fields() const = 0;

  /// A copy for one context.
  virtual Result<std::unique_ptr<PluginInstance>> attach(int tactic) const = 0;
};

}  // namespace kiln
