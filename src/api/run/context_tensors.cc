// Shapes and addresses of a context's inputs and outputs.
#include <algorithm>

#include "api/base/convert.h"
#include "api/run/context.h"
#include "api/run/tensor_format.h"

namespace kiln::api {

using nvinfer1::Dims;

bool Context::setInputShape(char const* name, Dims const& dims) noexcept {
  return guard(reporter_, "IExecutionContext::setInputShape", [&]() -> Status {
    const IoRef input = TRY(get_input(context_->engine(), name));
    const Extents extents = TRY(in_context(from_api(dims), [&] { return str("input '", name, "'"); }));
    return context_->set_input_extents(input.index, extents);
  });
}

/// Outputs are computed as soon as all inputs are set, as the API promises; before, the answer is -1.
Result<Extents> Context::extents_of(const IoRef& io) const {
  if (io.is_input) return context_->input_extents(io.index);
  if (context_->all_inputs_set()) TRY(context_->infer_shapes());
  return context_->output_extents(io.index);
}

Result<Extents> Context::known_extents_of(const IoRef& io) const {
  if (!io.is_input) TRY(context_->infer_shapes());
  const Extents extents = TRY(extents_of(io));
  if (std::ranges::any_of(extents, [](int64_t extent) { return extent < 0; }))
    return error(Code::kState, "the shape of '", io.tensor->name, "' is ", extents, ": not known yet");
  return extents;
}

Dims Context::getTensorShape(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getTensorShape", no_dims(), [&]() -> Result<Dims> {
    const Extents extents = TRY(extents_of(TRY(get_io(context_->engine(), name))));
    return to_api(extents);
  });
}

Dims Context::getTensorStrides(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getTensorStrides", no_dims(), [&]() -> Result<Dims> {
    const IoRef io = TRY(get_io(context_->engine(), name));
    const Extents extents = TRY(known_extents_of(io));
    return to_api(api_strides(io.tensor->format, extents));
  });
}

bool Context::allInputDimensionsSpecified() const noexcept {
  return guard(reporter_, "IExecutionContext::allInputDimensionsSpecified", false, [&]() -> Result<bool> {
    for (size_t i = 0; i < plan().inputs.size(); ++i)
      if (std::ranges::any_of(context_->input_extents(static_cast<int>(i)), [](int64_t e) { return e < 0; }))
        return false;
    return true;
  });
}

bool Context::allInputShapesSpecified() const noexcept {
  return guard(reporter_, "IExecutionContext::allInputShapesSpecified", false, [&]() -> Result<bool> {
    for (size_t i = 0; i < plan().inputs.size(); ++i)
      if (plan().inputs[i].is_shape && !context_->input_address(static_cast<int>(i))) return false;
    return true;
  });
}

int32_t Context::inferShapes(int32_t max_names, char const** names) noexcept {
  return guard(reporter_, "IExecutionContext::inferShapes", -1, [&]() -> Result<int32_t> {
    TRY(require(max_names >= 0 && (names || max_names == 0), "tensorNames is null, or nbMaxNames, ", max_names,
                ", is negative"));
    const std::vector<int> unset = context_->unset_inputs();
    for (size_t i = 0; i < unset.size() && i < static_cast<size_t>(max_names); ++i)
      names[i] = plan().inputs[static_cast<size_t>(unset[i])].name.c_str();
    if (unset.empty()) TRY(context_->infer_shapes());
    return static_cast<int32_t>(unset.size());
  });
}

int64_t Context::getMaxOutputSize(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getMaxOutputSize", int64_t{-1}, [&]() -> Result<int64_t> {
    const IoRef output = TRY(get_output(context_->engine(), name));
    TRY(context_->infer_shapes());
    return context_->largest_output_bytes(output.index);
  });
}

bool Context::setTensorAddress(char const* name, void* data) noexcept {
  return guard(reporter_, "IExecutionContext::setTensorAddress", [&]() -> Status {
    const IoRef io = TRY(get_io(context_->engine(), name));
    if (io.is_input)
      context_->set_input_address(io.index, data);
    else
      set_output_address(io.index, data);
    return {};
  });
}

/// An output with an allocator keeps the address for later, and the allocator is told of it.
void Context::set_output_address(int output, void* data) {
  output_addresses_[static_cast<size_t>(output)] = data;
  if (!output_allocators_[static_cast<size_t>(output)]) context_->set_output_address(output, data);
}

void const* Context::getTensorAddress(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getTensorAddress", static_cast<void const*>(nullptr),
               [&]() -> Result<void const*> {
                 const IoRef io = TRY(get_io(context_->engine(), name));
                 return io.is_input ? context_->input_address(io.index)
                                    : output_addresses_[static_cast<size_t>(io.index)];
               });
}

bool Context::setInputTensorAddress(char const* name, void const* data) noexcept {
  return guard(reporter_, "IExecutionContext::setInputTensorAddress", [&]() -> Status {
    context_->set_input_address(TRY(get_input(context_->engine(), name)).index, data);
    return {};
  });
}

bool Context::setOutputTensorAddress(char const* name, void* data) noexcept {
  return guard(reporter_, "IExecutionContext::setOutputTensorAddress", [&]() -> Status {
    set_output_address(TRY(get_output(context_->engine(), name)).index, data);
    return {};
  });
}

void* Context::getOutputTensorAddress(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getOutputTensorAddress", static_cast<void*>(nullptr),
               [&]() -> Result<void*> {
                 return output_addresses_[static_cast<size_t>(TRY(get_output(context_->engine(), name)).index)];
               });
}

bool Context::setOutputAllocator(char const* name, nvinfer1::IOutputAllocator* allocator) noexcept {
  return guard(reporter_, "IExecutionContext::setOutputAllocator", [&]() -> Status {
    const int output = TRY(get_output(context_->engine(), name)).index;
    output_allocators_[static_cast<size_t>(output)] = allocator;
    given_memory_[static_cast<size_t>(output)] = nullptr;
    set_output_address(output, output_addresses_[static_cast<size_t>(output)]);
    num_output_allocators_ =
        static_cast<int>(output_allocators_.size() - std::ranges::count(output_allocators_, nullptr));
    return {};
  });
}

nvinfer1::IOutputAllocator* Context::getOutputAllocator(char const* name) noexcept {
  return guard(reporter_, "IExecutionContext::getOutputAllocator", static_cast<nvinfer1::IOutputAllocator*>(nullptr),
               [&]() -> Result<nvinfer1::IOutputAllocator*> {
                 return output_allocators_[static_cast<size_t>(TRY(get_output(context_->engine(), name)).index)];
               });
}

}  // namespace kiln::api
