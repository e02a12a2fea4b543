// ISerializationConfig and IRuntimeConfig: how an engine is written, and how it is to run.

#include <NvInfer.h>

#include "bindings.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {

using nvinfer1::ExecutionContextAllocationStrategy, nvinfer1::IRuntimeConfig, nvinfer1::ISerializationConfig;

void bind_serialization(nb::module_& m) {
  nb::class_<ISerializationConfig>(m, "ISerializationConfig", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                                   "What ICudaEngine.serialize_with_config writes.")
      .def_prop_rw(
          "flags", &ISerializationConfig::getFlags,
          [](ISerializationConfig& self, uint32_t flags) {
            if (!self.setFlags(flags))
              throw std::runtime_error(str("flags ", flags, ": a bit is no SerializationFlag"));
          },
          "All choices of SerializationFlag, a bit each: 1 << int(flag).")
      .def("clear_flag", &ISerializationConfig::clearFlag, "flag"_a, "Takes a choice back.")
      .def("set_flag", &ISerializationConfig::setFlag, "flag"_a, "Makes a choice.")
      .def("get_flag", &ISerializationConfig::getFlag, "flag"_a, "Whether a choice was made.");
  nb::class_<IRuntimeConfig>(m, "IRuntimeConfig", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                             "How a context of an engine is to run.")
      .def("set_execution_context_allocation_strategy", &IRuntimeConfig::setExecutionContextAllocationStrategy,
           "strategy"_a = ExecutionContextAllocationStrategy::kSTATIC, "Sets who gives a context its memory, and when.")
      .def("get_execution_context_allocation_strategy", &IRuntimeConfig::getExecutionContextAllocationStrategy,
           "Who gives a context its memory, and when.");
}

}  // namespace kiln::python
