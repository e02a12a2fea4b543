#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "plugin_calls.h"
#include "plugin_parts.h"
#include "plugin_resources.h"
#include "plugin_shapes.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using Capability = nv::PluginCapabilityType;

/// `Base` is IPluginV3OneBuild or IPluginV3OneBuildV2.
template <class Base>
class BuildPart : public AnyBuildPart<Base> {
 public:
  using AnyBuildPart<Base>::AnyBuildPart;

  int32_t getNbOutputs() const noexcept final {
    return answer(side_, "num_outputs", int32_t{-1},
                  [&] { return result_as<int32_t>(side_.attr("num_outputs"), "an int"); });
  }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept final {
    return succeeds(side_, "get_output_data_types",
                    [&] { write_types(side_.attr("get_output_data_types")(list_of(in, num_in)), out, num_out); });
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept final {
    return answer(
        side_, "supports_format_combination", false,
        [&] {
          return result_as<bool>(
              side_.attr("supports_format_combination")(position, list_of(tensors, num_in + num_out), num_in),
              "a bool");
        },
        Told::kOnce);
  }
  size_t getWorkspaceSize(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) const noexcept final {
    return answer(side_, "get_workspace_size", kNoSize, [&] {
      return result_as<size_t>(side_.attr("get_workspace_size")(list_of(in, num_in), list_of(out, num_out)),
                               "a number of bytes");
    });
  }
  const char* getTimingCacheID() noexcept final { return optional_text_of(side_, "timing_cache_id", timing_id_); }
  const char* getMetadataString() noexcept final { return optional_text_of(side_, "metadata_string", metadata_); }
  int32_t getFormatCombinationLimit() noexcept final {
    return answer(side_, "format_combination_limit", int32_t{-1},
                  [&] { return result_as<int32_t>(side_.attr("format_combination_limit"), "an int"); });
  }

 protected:
  using AnyBuildPart<Base>::side_;

 private:
  KeptText timing_id_, metadata_;
};

class BuildPartV2 final : public BuildPart<nv::IPluginV3OneBuildV2> {
 public:
  using BuildPart::BuildPart;
  int32_t getAliasedInput(int32_t output) noexcept override { return aliased_input(side_, output); }
};

class RuntimePart final : public nv::IPluginV3OneRuntime {
 public:
  RuntimePart(nb::object part, nv::IPluginV3* plugin) : side_(std::move(part)), plugin_(plugin) {}

  nv::APILanguage getAPILanguage() const noexcept override { return nv::APILanguage::kPYTHON; }
  int32_t setTactic(int32_t tactic) noexcept override { return set_tactic(side_, tactic); }
  int32_t onShapeChange(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                        int32_t num_out) noexcept override {
    num_inputs_ = num_in, num_outputs_ = num_out;
    return succeeds(side_, "on_shape_change",
                    [&] { return side_.attr("on_shape_change")(list_of(in, num_in), list_of(out, num_out)); });
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* inputs,
                  void* const* outputs, void* workspace, cudaStream_t stream) noexcept override {
    return call_enqueue(side_, {in, inputs, num_inputs_}, {out, outputs, num_outputs_}, workspace, stream);
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext* context) noexcept override {
    return answer(side_, "attach_to_context", static_cast<nv::IPluginV3*>(nullptr), [&]() -> nv::IPluginV3* {
      nb::object attached = side_.attr("attach_to_context")(show_resource_context(context));
      if (attached.is(python_plugin(plugin_))) return plugin_;  // the library says that it is no copy
      return attached.is_none() ? nullptr : give_v3(std::move(attached));
    });
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return fields_.to_serialize(side_); }

 private:
  const PythonSide side_;
  nv::IPluginV3* const plugin_;
  KeptFields fields_;
  int32_t num_inputs_ = 0, num_outputs_ = 0;
};

class PluginAdapter final : public nv::IPluginV3 {
 public:
  PluginAdapter(nb::object plugin, Ends ends) : side_(std::move(plugin)), ends_(ends) {
    adapters<nv::IPluginV3>().insert(this);
  }
  ~PluginAdapter() override {
    const PythonLock lock;
    if (!lock) return;
    adapters<nv::IPluginV3>().erase(this);
    if (ends_ == Ends::kWithDestroy) succeeds(side_, "destroy", [&] { side_.attr("destroy")(); });
  }

  void end_silently() { ends_ = Ends::kSilently; }
  const nb::object& object() const { return side_.object(); }

  nv::APILanguage getAPILanguage() const noexcept override { return nv::APILanguage::kPYTHON; }
  nv::IPluginCapability* getCapabilityInterface(Capability type) noexcept override {
    return answer(side_, "get_capability_interface", static_cast<nv::IPluginCapability*>(nullptr),
                  [&] { return part_of(type, side_.attr("get_capability_interface")(type)); });
  }
  nv::IPluginV3* clone() noexcept override {
    return answer(side_, "clone", static_cast<nv::IPluginV3*>(nullptr), [&]() -> nv::IPluginV3* {
      nb::object copy = side_.attr("clone")();
      if (copy.is(side_.object())) return this;  // the library says that it is no copy
      return copy.is_none() ? nullptr : give_v3(std::move(copy));
    });
  }

 private:
  nv::IPluginCapability* part_of(Capability type, nb::object part) {
    if (part.is_none()) return nullptr;
    std::unique_ptr<nv::IPluginCapability>& known = parts_[{type, part.ptr()}];
    if (!known) known = make_one_part(type, part, this);
    if (!known) known = make_quick_part(type, part);
    if (!known) wrong_result(part, "an object of the interface of that part");
    return known.get();
  }

  const PythonSide side_;
  Ends ends_;
  /// Each has a reference to its object, whose address is no other's while it is here.
  std::map<std::pair<Capability, const PyObject*>, std::unique_ptr<nv::IPluginCapability>> parts_;
};

}  // namespace

std::unique_ptr<nv::IPluginCapability> make_one_part(Capability type, nb::object part, nv::IPluginV3* plugin) {
  switch (type) {
    case Capability::kCORE:
      if (is_plugin_class(part, "IPluginV3OneCore"))
        return std::make_unique<CorePart<nv::IPluginV3OneCore>>(std::move(part));
      break;
    case Capability::kBUILD:
      if (is_plugin_class(part, "IPluginV3OneBuildV2")) return std::make_unique<BuildPartV2>(std::move(part));
      if (is_plugin_class(part, "IPluginV3OneBuild"))
        return std::make_unique<BuildPart<nv::IPluginV3OneBuild>>(std::move(part));
      break;
    case Capability::kRUNTIME:
      if (is_plugin_class(part, "IPluginV3OneRuntime")) return std::make_unique<RuntimePart>(std::move(part), plugin);
      break;
  }
  return nullptr;
}

nv::IPluginV3* adapt_v3(nb::object plugin, Ends ends) { return new PluginAdapter(std::move(plugin), ends); }

nb::object python_plugin(const nv::IPluginV3* plugin) {
  return adapters<nv::IPluginV3>().contains(plugin) ? static_cast<const PluginAdapter*>(plugin)->object()
                                                    : nb::object();
}

void forget(nv::IPluginV3* adapter) {
  static_cast<PluginAdapter*>(adapter)->end_silently();
  delete adapter;
}

}  // namespace kiln::python
