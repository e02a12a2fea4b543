#include "plugin_parts.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace kiln::python {

const char* text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept {
  return answer(side, attribute, static_cast<const char*>(nullptr),
                [&] { return kept.keep(result_as<std::string>(side.attr(attribute), "a str")); });
}

const char* optional_text_of(const PythonSide& side, const char* attribute, KeptText& kept) noexcept {
  return answer(side, attribute, static_cast<const char*>(nullptr), [&]() -> const char* {
    const nb::object text = side.attr(attribute);
    return text.is_none() ? nullptr : kept.keep(result_as<std::string>(text, "a str or None"));
  });
}

int32_t set_tactic(const PythonSide& side, int32_t tactic) noexcept {
  return succeeds(side, "set_tactic", [&] { return side.attr("set_tactic")(tactic); });
}

int32_t call_enqueue(const PythonSide& side, EnqueuedTensors in, EnqueuedTensors out, void* workspace,
                     cudaStream_t stream) noexcept {
  return succeeds(side, "enqueue", [&] {
    return side.attr("enqueue")(list_of(in.descs, in.count), list_of(out.descs, out.count),
                                addresses_of(in.addresses, in.count), addresses_of(out.addresses, out.count),
                                address_of(workspace), told_stream(stream));
  });
}

int32_t aliased_input(const PythonSide& side, int32_t output) noexcept {
  return answer(side, "get_aliased_input", kNoInput,
                [&] { return result_as<int32_t>(side.attr("get_aliased_input")(output), "an int"); });
}

void write_types(nb::handle result, nvinfer1::DataType* types, int32_t count) {
  const auto returned = results_as<nvinfer1::DataType>(result, "a list of DataType");
  if (std::ssize(returned) != count)
    throw nb::value_error(
        ("it returned " + std::to_string(returned.size()) + " types for " + std::to_string(count) + " outputs")
            .c_str());
  std::ranges::copy(returned, types);
}

int32_t TacticList::count(const PythonSide& side) noexcept {
  return answer(side, "get_valid_tactics", int32_t{-1}, [&] {
    tactics_ = results_as<int32_t>(side.attr("get_valid_tactics")(), "a list of int");
    return static_cast<int32_t>(tactics_.size());
  });
}

int32_t TacticList::write(int32_t* tactics, int32_t count) const noexcept {
  if (count != std::ssize(tactics_)) return -1;
  std::ranges::copy(tactics_, tactics);
  return 0;
}

KeptFields::~KeptFields() {
  const PythonLock lock;
  if (lock)
    fields_.reset();
  else
    static_cast<void>(fields_.release());  // its buffers are the interpreter's
}

const nvinfer1::PluginFieldCollection* KeptFields::to_serialize(const PythonSide& side) noexcept {
  static constexpr nvinfer1::PluginFieldCollection kNone{-1, nullptr};  // null would say that there are no fields
  return answer(side, "get_fields_to_serialize", &kNone, [&] {
    fields_ = std::make_unique<FieldList>(side.attr("get_fields_to_serialize")());
    return fields_->get();
  });
}

const nvinfer1::PluginFieldCollection* KeptFields::names(const PythonSide& side) noexcept {
  return answer(side, "field_names", static_cast<const nvinfer1::PluginFieldCollection*>(nullptr), [&] {
    fields_ = std::make_unique<FieldList>(nb::object(side.attr("field_names")));
    return fields_->get();
  });
}

}  // namespace kiln::python
