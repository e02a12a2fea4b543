#include <impl/NvInferPythonPlugin.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "plugin_kernels.h"
#include "plugin_parts.h"
#include "plugin_shapes.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using Capability = nv::PluginCapabilityType;

/// `Base` is IPluginV3QuickBuild or IPluginV3QuickAOTBuild.
template <class Base>
class QuickBuildPart : public AnyBuildPart<Base> {
 public:
  using AnyBuildPart<Base>::AnyBuildPart;

  int32_t getNbOutputs() const noexcept final {
    return answer(side_, "get_num_outputs", int32_t{-1},
                  [&] { return result_as<int32_t>(side_.attr("get_num_outputs")(), "an int"); });
  }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in, const int32_t* ranks,
                             int32_t num_in) const noexcept final {
    return succeeds(side_, "get_output_data_types", [&] {
      write_types(side_.attr("get_output_data_types")(list_of(in, num_in), list_of(ranks, num_in)), out, num_out);
    });
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                           int32_t num_out) noexcept final;
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in, int32_t num_out,
                                         nv::PluginTensorDesc* combinations, int32_t count) noexcept final;
  int32_t getAliasedInput(int32_t output) noexcept final { return aliased_input(side_, output); }
  const char* getTimingCacheID() noexcept final { return optional_result("get_timing_cache_id", timing_id_); }
  const char* getMetadataString() noexcept final { return optional_result("get_metadata_string", metadata_); }

 protected:
  using AnyBuildPart<Base>::side_;

 private:
  const char* optional_result(const char* method, KeptText& kept) const noexcept {
    return answer(side_, method, static_cast<const char*>(nullptr), [&]() -> const char* {
      const nb::object text = side_.attr(method)();
      return text.is_none() ? nullptr : kept.keep(result_as<std::string>(text, "a str or None"));
    });
  }

  std::vector<nv::PluginTensorDesc> combinations_;  ///< as the plugin named them when it was asked for their number
  KeptText timing_id_, metadata_;
};

template <class Base>
int32_t QuickBuildPart<Base>::getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc* tensors,
                                                               int32_t num_in, int32_t num_out) noexcept {
  constexpr const char* kMethod = "get_supported_format_combinations";
  const int32_t num_tensors = num_in + num_out;
  return answer(side_, kMethod, int32_t{-1}, [&] {
    combinations_ = results_as<nv::PluginTensorDesc>(side_.attr(kMethod)(list_of(tensors, num_tensors), num_in),
                                                     "a list of PluginTensorDesc");
    if (std::ssize(combinations_) % num_tensors != 0)
      throw nb::value_error(("it returned " + std::to_string(combinations_.size()) +
                             " tensors, which is no multiple of the " + std::to_string(num_tensors) +
                             " inputs and outputs")
                                .c_str());
    return static_cast<int32_t>(std::ssize(combinations_) / num_tensors);
  });
}

template <class Base>
int32_t QuickBuildPart<Base>::getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t num_in,
                                                             int32_t num_out, nv::PluginTensorDesc* combinations,
                                                             int32_t count) noexcept {
  if (int64_t{count} * (num_in + num_out) != std::ssize(combinations_)) return -1;
  std::ranges::copy(combinations_, combinations);
  return 0;
}

class QuickAotBuildPart final : public QuickBuildPart<nv::IPluginV3QuickAOTBuild> {
 public:
  using QuickBuildPart::QuickBuildPart;

  int32_t getLaunchParams(const nv::DimsExprs* in, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                          int32_t num_out, nv::IKernelLaunchParams* launch, nv::ISymExprs* extra_args,
                          nv::IExprBuilder& builder) noexcept override {
    return succeeds(side_, "get_launch_params", [&] {
      const ShapeScope scope(builder);
      const auto kept = std::make_shared<KernelCall>();
      launch_ = kept;  // C++ reads the arguments once this has returned
      const nb::object status = side_.attr("get_launch_params")(
          scope.list_of(in, num_in), list_of(tensors, num_in + num_out), num_in, show_launch_params(launch, kept),
          show_arguments(extra_args, kept), scope.builder());
      kept->is_open = false;
      return status;
    });
  }
  int32_t getKernel(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out, int32_t num_out,
                    const char** name, char** code, int32_t* code_size) noexcept override {
    return succeeds(side_, "get_kernel", [&] {
      const nb::object pair = side_.attr("get_kernel")(list_of(in, num_in), list_of(out, num_out));
      if (!nb::isinstance<nb::sequence>(pair) || nb::len(pair) != 2)
        wrong_result(pair, "a tuple of the kernel's name and its code");
      *name = name_.keep(text_or_bytes(pair[0], "a kernel's name as str or bytes"));
      code_ = text_or_bytes(pair[1], "a kernel's code as bytes or str");
      *code = code_.data();
      *code_size = static_cast<int32_t>(code_.size());
    });
  }
  int32_t setTactic(int32_t tactic) noexcept override { return set_tactic(side_, tactic); }
  ~QuickAotBuildPart() override {
    const PythonLock lock;
    if (!lock) new std::shared_ptr<KernelCall>(std::move(launch_));  // its objects went with the interpreter
    launch_.reset();
  }

 private:
  static std::string text_or_bytes(nb::handle value, const char* needed) {
    if (nb::isinstance<nb::bytes>(value)) {
      const auto bytes = nb::borrow<nb::bytes>(value);
      return {bytes.c_str(), bytes.size()};
    }
    return result_as<std::string>(value, needed);
  }

  KeptText name_;
  std::string code_;
  std::shared_ptr<KernelCall> launch_;
};

class QuickRuntimePart final : public nv::IPluginV3QuickRuntime {
 public:
  explicit QuickRuntimePart(nb::object part) : side_(std::move(part)) {}

  nv::APILanguage getAPILanguage() const noexcept override { return nv::APILanguage::kPYTHON; }
  int32_t setTactic(int32_t tactic) noexcept override { return set_tactic(side_, tactic); }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* inputs,
                  void* const* outputs, const nv::Dims* in_strides, const nv::Dims* out_strides, int32_t num_in,
                  int32_t num_out, cudaStream_t stream) noexcept override {
    return succeeds(side_, "enqueue", [&] {
      return side_.attr("enqueue")(list_of(in, num_in), list_of(out, num_out), addresses_of(inputs, num_in),
                                   addresses_of(outputs, num_out), list_of(in_strides, num_in),
                                   list_of(out_strides, num_out), told_stream(stream));
    });
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return fields_.to_serialize(side_); }

 private:
  const PythonSide side_;
  KeptFields fields_;
};

}  // namespace

std::unique_ptr<nv::IPluginCapability> make_quick_part(Capability type, nb::object part) {
  switch (type) {
    case Capability::kCORE:
      if (is_plugin_class(part, "IPluginV3QuickCore"))
        return std::make_unique<CorePart<nv::IPluginV3QuickCore>>(std::move(part));
      break;
    case Capability::kBUILD:
      if (is_plugin_class(part, "IPluginV3QuickAOTBuild")) return std::make_unique<QuickAotBuildPart>(std::move(part));
      if (is_plugin_class(part, "IPluginV3QuickBuild"))
        return std::make_unique<QuickBuildPart<nv::IPluginV3QuickBuild>>(std::move(part));
      break;
    case Capability::kRUNTIME:
      if (is_plugin_class(part, "IPluginV3QuickRuntime")) return std::make_unique<QuickRuntimePart>(std::move(part));
      break;
  }
  return nullptr;
}

}  // namespace kiln::python
