/// Code that adapters of several kinds of plugins share: how they ask Python for tactics, fields, texts, types.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <utility>
#include <vector>

#include "plugin_calls.h"
#include "plugin_fields.h"
#include "plugin_shapes.h"

namespace kiln::python {

constexpr size_t kNoSize = SIZE_MAX;  ///< of a workspace, where the method raised: no plugin can have that much
constexpr int32_t kNoInput = -2;      ///< of an aliased output, where the method raised; -1 says that it has none

/// The text of an attribute; null, once that is reported, where it has none.
const char* text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept;
/// The text of an attribute; null where the attribute is None, or, once that is reported, has no text.
const char* optional_text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept;

/// 0, or -1 once that is reported, where set_tactic raises.
int32_t set_tactic(const PythonSide& side, int32_t tactic) noexcept;
/// An aliased input of an output; kNoInput, once that is reported, where get_aliased_input raises.
int32_t aliased_input(const PythonSide& side, int32_t output) noexcept;

/// The inputs or the outputs of an enqueue.
struct EnqueuedTensors {
  const nvinfer1::PluginTensorDesc* descs;
  const void* const* addresses;
  int32_t count;
};
/// 0, or -1 once that is reported, where enqueue raises or returns a failure.
int32_t call_enqueue(const PythonSide& side, EnqueuedTensors in, EnqueuedTensors out, void* workspace,
                     cudaStream_t stream) noexcept;

inline nb::int_ address_of(const void* pointer) { return nb::int_(reinterpret_cast<uintptr_t>(pointer)); }
/// The stream that a plugin's `enqueue` is told. Not 0, of which PyTorch's ExternalStream takes any stream of its pool,
/// which nothing orders behind the default one; nor 1, which it refuses. This thread's default stream waits for the
/// default one, which waits for it.
inline nb::int_ told_stream(cudaStream_t stream) { return address_of(stream ? stream : cudaStreamPerThread); }

/// A plugin's core. `Base` is IPluginV3OneCore or IPluginV3QuickCore.
template <class Base>
class CorePart final : public Base {
 public:
  explicit CorePart(nb::object part) : side_(std::move(part)) {}

  nvinfer1::APILanguage getAPILanguage() const noexcept override { return nvinfer1::APILanguage::kPYTHON; }
  const char* getPluginName() const noexcept override { return text_of(side_, "plugin_name", name_); }
  const char* getPluginVersion() const noexcept override { return text_of(side_, "plugin_version", version_); }
  const char* getPluginNamespace() const noexcept override { return text_of(side_, "plugin_namespace", namespace_); }

 private:
  const PythonSide side_;
  mutable KeptText name_, version_, namespace_;
};

/// Writes the list of as many DataTypes that a method returned. Throws what is wrong with it.
void write_types(nb::handle result, nvinfer1::DataType* types, int32_t count);

/// C++ asks for the number of tactics, then for them; Python tells them in one call.
class TacticList {
 public:
  int32_t count(const PythonSide& side) noexcept;
  int32_t write(int32_t* tactics, int32_t count) const noexcept;

 private:
  std::vector<int32_t> tactics_;
};

/// The methods that BuildPart and QuickBuildPart share. `Base` is an interface of either.
template <class Base>
class AnyBuildPart : public Base {
 public:
  explicit AnyBuildPart(nb::object part) : side_(std::move(part)) {}

  nvinfer1::APILanguage getAPILanguage() const noexcept final { return nvinfer1::APILanguage::kPYTHON; }
  int32_t getOutputShapes(const nvinfer1::DimsExprs* in, int32_t num_in, const nvinfer1::DimsExprs* shapes,
                          int32_t num_shapes, nvinfer1::DimsExprs* out, int32_t num_out,
                          nvinfer1::IExprBuilder& builder) noexcept final {
    return succeeds(side_, "get_output_shapes", [&] {
      const ShapeScope scope(builder);
      scope.write(side_.attr("get_output_shapes")(scope.list_of(in, num_in), scope.list_of(shapes, num_shapes),
                                                  scope.builder()),
                  out, num_out);
    });
  }
  int32_t configurePlugin(const nvinfer1::DynamicPluginTensorDesc* in, int32_t num_in,
                          const nvinfer1::DynamicPluginTensorDesc* out, int32_t num_out) noexcept final {
    return succeeds(side_, "configure_plugin",
                    [&] { return side_.attr("configure_plugin")(list_of(in, num_in), list_of(out, num_out)); });
  }
  int32_t getNbTactics() noexcept final { return tactics_.count(side_); }
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept final { return tactics_.write(tactics, count); }

 protected:
  const PythonSide side_;

 private:
  TacticList tactics_;
};

/// The fields that Python gave last, which C++ reads after the call.
class KeptFields {
 public:
  KeptFields() = default;
  KeptFields(const KeptFields&) = delete;
  KeptFields& operator=(const KeptFields&) = delete;
  ~KeptFields();
  /// The fields that get_fields_to_serialize returns; a collection that is none, once that is reported, where it
  /// raises.
  const nvinfer1::PluginFieldCollection* to_serialize(const PythonSide& side) noexcept;
  /// The field_names of a creator.
  const nvinfer1::PluginFieldCollection* names(const PythonSide& side) noexcept;

 private:
  std::unique_ptr<FieldList> fields_;
};

}  // namespace kiln::python
