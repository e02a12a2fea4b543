// The engine's calls about its inputs and outputs.
#include <algorithm>

#include "api/base/convert.h"
#include "api/run/debug_tensors.h"
#include "api/run/engine.h"
#include "api/run/tensor_format.h"

namespace kiln::api {

using nvinfer1::Dims;

std::optional<IoRef> find_io(const runtime::Engine& engine, std::string_view name) {
  const auto found = engine.surface_named(name);
  if (!found) return std::nullopt;
  const auto& tensors = found->is_input ? engine.plan().inputs : engine.plan().outputs;
  return IoRef{found->is_input, found->index, &tensors[static_cast<size_t>(found->index)]};
}

namespace {

/// The tensors' names as "'a', 'b'", as many as fit into a message.
std::string names(const std::vector<plan::IoTensor>& tensors) {
  constexpr size_t kMost = 20;
  std::string text;
  for (size_t i = 0; i < std::min(tensors.size(), kMost); ++i)
    text += str(text.empty() ? "'" : ", '", tensors[i].name, "'");
  if (tensors.size() > kMost) text += str(" and ", tensors.size() - kMost, " more");
  return text.empty() ? "none" : text;
}

}  // namespace

Result<IoRef> get_io(const runtime::Engine& engine, const char* name) {
  if (const auto found = find_io(engine, TRY(name_argument(name, "tensorName")))) return *found;
  return error(Code::kNotFound, "there is no input or output '", name, "'; inputs: ", names(engine.plan().inputs),
               "; outputs: ", names(engine.plan().outputs));
}

Result<IoRef> get_input(const runtime::Engine& engine, const char* name) {
  const IoRef found = TRY(get_io(engine, name));
  if (found.is_input) return found;
  return error(Code::kInvalidArgument, "'", name, "' is an output; inputs: ", names(engine.plan().inputs));
}

Result<IoRef> get_output(const runtime::Engine& engine, const char* name) {
  const IoRef found = TRY(get_io(engine, name));
  if (!found.is_input) return found;
  return error(Code::kInvalidArgument, "'", name, "' is an input; outputs: ", names(engine.plan().outputs));
}

Result<Ref<const plan::Profile>> Engine::profile(int32_t index) const {
  TRY(require(index >= 0 && index < engine_->num_profiles(), "optimization profile ", index, " is outside [0, ",
              engine_->num_profiles(), ")"));
  return std::cref(plan().profiles[static_cast<size_t>(index)]);
}

int32_t Engine::getNbIOTensors() const noexcept {
  return static_cast<int32_t>(plan().inputs.size() + plan().outputs.size());
}

char const* Engine::getIOTensorName(int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getIOTensorName", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 TRY(require(index >= 0 && index < getNbIOTensors(), "index ", index, " is outside [0, ",
                             getNbIOTensors(), ")"));
                 const auto at = static_cast<size_t>(index), inputs = plan().inputs.size();
                 return (at < inputs ? plan().inputs[at] : plan().outputs[at - inputs]).name.c_str();
               });
}

Dims Engine::getTensorShape(char const* name) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorShape", no_dims(), [&]() -> Result<Dims> {
    const IoRef io = TRY(get_io(*engine_, name));
    return to_api(engine_->fixed_extents(io.tensor->extents));
  });
}

nvinfer1::DataType Engine::getTensorDataType(char const* name) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorDataType", nvinfer1::DataType::kFLOAT,
               [&]() -> Result<nvinfer1::DataType> { return to_api(TRY(get_io(*engine_, name)).tensor->dtype); });
}

nvinfer1::TensorLocation Engine::getTensorLocation(char const* name) const noexcept {
  using nvinfer1::TensorLocation;
  return guard(reporter_, "ICudaEngine::getTensorLocation", TensorLocation::kDEVICE, [&]() -> Result<TensorLocation> {
    return TRY(get_io(*engine_, name)).tensor->is_shape ? TensorLocation::kHOST : TensorLocation::kDEVICE;
  });
}

bool Engine::isShapeInferenceIO(char const* name) const noexcept {
  return guard(reporter_, "ICudaEngine::isShapeInferenceIO", false,
               [&]() -> Result<bool> { return TRY(get_io(*engine_, name)).tensor->is_shape; });
}

nvinfer1::TensorIOMode Engine::getTensorIOMode(char const* name) const noexcept {
  using nvinfer1::TensorIOMode;
  return guard(reporter_, "ICudaEngine::getTensorIOMode", TensorIOMode::kNONE, [&]() -> Result<TensorIOMode> {
    const auto io = find_io(*engine_, TRY(name_argument(name, "tensorName")));
    return !io ? TensorIOMode::kNONE : io->is_input ? TensorIOMode::kINPUT : TensorIOMode::kOUTPUT;
  });
}

nvinfer1::TensorFormat Engine::getTensorFormat(char const* name) const noexcept { return getTensorFormatV2(name, 0); }
char const* Engine::getTensorFormatDesc(char const* name) const noexcept { return getTensorFormatDescV2(name, 0); }
int32_t Engine::getTensorVectorizedDim(char const* name) const noexcept { return getTensorVectorizedDimV2(name, 0); }
int32_t Engine::getTensorBytesPerComponent(char const* name) const noexcept {
  return getTensorBytesPerComponentV2(name, 0);
}
int32_t Engine::getTensorComponentsPerElement(char const* name) const noexcept {
  return getTensorComponentsPerElementV2(name, 0);
}

// An input or output has one format in all profiles; the calls below check the profile's number nevertheless.

int32_t Engine::getTensorBytesPerComponentV2(char const* name, int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorBytesPerComponent", -1, [&]() -> Result<int32_t> {
    TRY(profile(index));
    const plan::IoTensor& tensor = *TRY(get_io(*engine_, name)).tensor;
    return tensor.format.is_blocked() ? (bits_of(tensor.dtype) + 7) / 8 : -1;
  });
}

int32_t Engine::getTensorComponentsPerElementV2(char const* name, int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorComponentsPerElement", -1, [&]() -> Result<int32_t> {
    TRY(profile(index));
    const Format& format = TRY(get_io(*engine_, name)).tensor->format;
    return format.is_blocked() ? format.block() : -1;
  });
}

nvinfer1::TensorFormat Engine::getTensorFormatV2(char const* name, int32_t index) const noexcept {
  using nvinfer1::TensorFormat;
  return guard(reporter_, "ICudaEngine::getTensorFormat", TensorFormat::kLINEAR, [&]() -> Result<TensorFormat> {
    TRY(profile(index));
    return format_of(*TRY(get_io(*engine_, name)).tensor);
  });
}

char const* Engine::getTensorFormatDescV2(char const* name, int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorFormatDesc", "", [&]() -> Result<char const*> {
    TRY(profile(index));
    const IoRef io = TRY(get_io(*engine_, name));
    const size_t first = io.is_input ? 0 : plan().inputs.size();
    return format_texts_[first + static_cast<size_t>(io.index)].c_str();
  });
}

int32_t Engine::getTensorVectorizedDimV2(char const* name, int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getTensorVectorizedDim", -1, [&]() -> Result<int32_t> {
    TRY(profile(index));
    const Format& format = TRY(get_io(*engine_, name)).tensor->format;
    return format.is_blocked() ? format.block_axis() : -1;
  });
}

namespace {

Status check_select(nvinfer1::OptProfileSelector select) {
  const auto number = static_cast<int32_t>(select);
  return require(number >= 0 && number < 3, "select ", number, " is not an OptProfileSelector");
}

}  // namespace

Result<Ref<const Extents>> Engine::profile_entry(const char* name, int32_t index, Select select, bool values) const {
  const plan::Profile& profile = TRY(this->profile(index));
  TRY(check_select(select));
  const IoRef input = TRY(get_input(*engine_, name));
  const auto at = static_cast<size_t>(input.index);
  if (values) TRY(require(input.tensor->is_shape, "'", name, "' is not a shape tensor: a profile has no values of it"));
  const plan::InputRange& range = values ? profile.value_ranges[at] : profile.ranges[at];
  return std::cref(select == Select::kMIN ? range.min : select == Select::kOPT ? range.opt : range.max);
}

Dims Engine::getProfileShape(char const* name, int32_t index, Select select) const noexcept {
  return guard(reporter_, "ICudaEngine::getProfileShape", no_dims(), [&]() -> Result<Dims> {
    const Extents& extents = TRY(profile_entry(name, index, select, false));
    return to_api(extents);
  });
}

int64_t const* Engine::getProfileTensorValuesV2(char const* name, int32_t index, Select select) const noexcept {
  return guard(reporter_, "ICudaEngine::getProfileTensorValuesV2", static_cast<int64_t const*>(nullptr),
               [&]() -> Result<int64_t const*> {
                 const Extents& values = TRY(profile_entry(name, index, select, true));
                 return values.empty() ? nullptr : values.data();
               });
}

int32_t const* Engine::getProfileTensorValues(char const* name, int32_t index, Select select) const noexcept {
  return guard(reporter_, "ICudaEngine::getProfileTensorValues", static_cast<int32_t const*>(nullptr),
               [&]() -> Result<int32_t const*> {
                 TRY(profile_entry(name, index, select, true));
                 const auto input = static_cast<size_t>(TRY(get_input(*engine_, name)).index);
                 const size_t row = static_cast<size_t>(index) * plan().inputs.size() + input;
                 const auto& values = narrow_values_[row * 3 + static_cast<size_t>(select)];
                 return values.empty() ? nullptr : values.data();
               });
}

bool Engine::isDebugTensor(char const* name) const noexcept {
  return guard(reporter_, "ICudaEngine::isDebugTensor", false,
               [&]() -> Result<bool> { return is_debug_tensor(plan(), TRY(name_argument(name, "name"))); });
}

char const* Engine::getAliasedInputTensor(char const* name) const noexcept {
  return guard(reporter_, "ICudaEngine::getAliasedInputTensor", static_cast<char const*>(nullptr),
               [&]() -> Result<char const*> {
                 const IoRef io = TRY(get_io(*engine_, name));
                 const std::vector<int>& caches = plan().build.cache_inputs;
                 if (io.is_input || static_cast<size_t>(io.index) >= caches.size()) return nullptr;
                 const int input = caches[static_cast<size_t>(io.index)];
                 return input < 0 ? nullptr : plan().inputs[static_cast<size_t>(input)].name.c_str();
               });
}

}  // namespace kiln::api
