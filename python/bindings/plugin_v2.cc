#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "plugin_parts.h"
#include "plugin_shapes.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;

/// A plugin of version 2 that Python implements. What C++ ends by destroy() is told; what it deletes is not.
class OldPluginAdapter final : public nv::IPluginV2DynamicExt {
 public:
  explicit OldPluginAdapter(nb::object plugin) : side_(std::move(plugin)) { adapters<nv::IPluginV2>().insert(this); }
  ~OldPluginAdapter() override {
    const PythonLock lock;
    if (lock) adapters<nv::IPluginV2>().erase(this);
  }
  const nb::object& object() const { return side_.object(); }

  const char* getPluginType() const noexcept override { return text_of(side_, "plugin_type", type_); }
  const char* getPluginVersion() const noexcept override { return text_of(side_, "plugin_version", version_); }
  const char* getPluginNamespace() const noexcept override { return text_of(side_, "plugin_namespace", namespace_); }
  void setPluginNamespace(const char* plugin_namespace) noexcept override {
    succeeds(side_, "plugin_namespace", [&] { side_.object().attr("plugin_namespace") = nb::str(plugin_namespace); });
  }
  int32_t getNbOutputs() const noexcept override {
    return answer(side_, "num_outputs", int32_t{-1},
                  [&] { return result_as<int32_t>(side_.attr("num_outputs"), "an int"); });
  }
  int32_t initialize() noexcept override {
    return succeeds(side_, "initialize", [&] { return side_.attr("initialize")(); });
  }
  void terminate() noexcept override {
    succeeds(side_, "terminate", [&] { side_.attr("terminate")(); });
  }
  void destroy() noexcept override {
    succeeds(side_, "destroy", [&] { side_.attr("destroy")(); });
    delete this;
  }
  nv::IPluginV2DynamicExt* clone() const noexcept override {
    return answer(side_, "clone", static_cast<nv::IPluginV2DynamicExt*>(nullptr), [&]() -> nv::IPluginV2DynamicExt* {
      nb::object copy = side_.attr("clone")();
      if (copy.is(side_.object())) return const_cast<OldPluginAdapter*>(this);  // the library says that it is no copy
      if (!is_plugin_class(copy, "IPluginV2DynamicExt")) wrong_result(copy, "an IPluginV2DynamicExt");
      return new OldPluginAdapter(std::move(copy));
    });
  }

  nv::DataType getOutputDataType(int32_t output, const nv::DataType* in, int32_t num_in) const noexcept override {
    constexpr auto kNone = static_cast<nv::DataType>(-1);  // which the library refuses
    return answer(side_, "get_output_datatype", kNone, [&] {
      return result_as<nv::DataType>(side_.attr("get_output_datatype")(output, list_of(in, num_in)), "a DataType");
    });
  }
  nv::DimsExprs getOutputDimensions(int32_t output, const nv::DimsExprs* in, int32_t num_in,
                                    nv::IExprBuilder& builder) noexcept override {
    return answer(side_, "get_output_dimensions", nv::DimsExprs{-1, {}}, [&] {
      const ShapeScope scope(builder);
      const nb::object shape = side_.attr("get_output_dimensions")(output, scope.list_of(in, num_in), scope.builder());
      return result_as<ShapeExprs>(shape, "a DimsExprs").to_api(*scope.call());
    });
  }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override {
    return answer(
        side_, "supports_format_combination", false,
        [&] {
          return result_as<bool>(
              side_.attr("supports_format_combination")(position, list_of(tensors, num_in + num_out), num_in),
              "a bool");
        },
        Told::kOnce);
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                       int32_t num_out) noexcept override {
    num_inputs_ = num_in, num_outputs_ = num_out;
    is_configured_ = succeeds(side_, "configure_plugin", [&] {
                       return side_.attr("configure_plugin")(list_of(in, num_in), list_of(out, num_out));
                     }) == 0;
  }
  size_t getWorkspaceSize(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                          int32_t num_out) const noexcept override {
    if (!is_configured_) return kNoSize;  // configurePlugin cannot say that it failed
    return answer(side_, "get_workspace_size", kNoSize, [&] {
      return result_as<size_t>(side_.attr("get_workspace_size")(list_of(in, num_in), list_of(out, num_out)),
                               "a number of bytes");
    });
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* inputs,
                  void* const* outputs, void* workspace, cudaStream_t stream) noexcept override {
    if (!is_configured_) return -1;
    return call_enqueue(side_, {in, inputs, num_inputs_}, {out, outputs, num_outputs_}, workspace, stream);
  }

  size_t getSerializationSize() const noexcept override {
    return answer(side_, "serialize", kNoSize, [&] { return read_serialized(), serialized_.size(); });
  }
  void serialize(void* buffer) const noexcept override { std::ranges::copy(serialized_, static_cast<char*>(buffer)); }

 private:
  /// Asks Python once for what C++ asks twice: how long it is, and what it is.
  void read_serialized() const;
  int32_t getTensorRTVersion() const noexcept override { return python_plugin_version(); }

  const PythonSide side_;
  mutable KeptText type_, version_, namespace_;
  int32_t num_inputs_ = 0, num_outputs_ = 0;
  mutable std::string serialized_;
  bool is_configured_ = true;  ///< false where the latest configure_plugin raised
};

void OldPluginAdapter::read_serialized() const {
  const nb::object result = side_.attr("serialize")();
  const nb::object bytes = nb::isinstance<nb::str>(result) ? nb::object(result.attr("encode")()) : result;
  if (!nb::isinstance<nb::bytes>(bytes)) wrong_result(result, "bytes");
  const auto found = nb::borrow<nb::bytes>(bytes);
  const auto told = result_as<size_t>(side_.attr("get_serialization_size")(), "a number of bytes");
  if (found.size() != told)
    throw nb::value_error(
        ("it returned " + std::to_string(found.size()) + " bytes; get_serialization_size said " + std::to_string(told))
            .c_str());
  serialized_.assign(found.c_str(), found.size());
}

}  // namespace

int32_t python_plugin_version() {
  return static_cast<int32_t>((static_cast<uint32_t>(nv::PluginVersion::kV2_DYNAMICEXT_PYTHON) << 24U) |
                              (static_cast<uint32_t>(NV_TENSORRT_VERSION) & 0xFFFFFFU));
}

nv::IPluginV2* adapt_v2(nb::object plugin) { return new OldPluginAdapter(std::move(plugin)); }

nb::object python_plugin(const nv::IPluginV2* plugin) {
  return adapters<nv::IPluginV2>().contains(plugin) ? static_cast<const OldPluginAdapter*>(plugin)->object()
                                                    : nb::object();
}

}  // namespace kiln::python
