// EngineInspector: tells of an engine's layers.

#include <NvInfer.h>

#include "bindings.h"
#include "lifetime.h"

namespace kiln::python {

using nvinfer1::IEngineInspector, nvinfer1::IErrorRecorder, nvinfer1::IExecutionContext;

void bind_inspector(nb::module_& m) {
  nb::class_<IEngineInspector>(m, "EngineInspector", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                               "Tells of an engine's layers.")
      .def_prop_rw(
          "execution_context", &IEngineInspector::getExecutionContext,
          [](IEngineInspector& self, const IExecutionContext* context) {
            const bool is_set = self.setExecutionContext(context);
            hold_item(&self, "execution_context", context);
            return is_set;
          },
          set_or_none(), "The context whose shapes are told of, or None.")
      .def("get_layer_information", &IEngineInspector::getLayerInformation, "layer_index"_a, "format"_a,
           "A text about one layer, as much as the build's profiling verbosity kept.")
      .def("get_engine_information", &IEngineInspector::getEngineInformation, "format"_a, "A text about all layers.")
      .def_prop_rw(
          "error_recorder", &IEngineInspector::getErrorRecorder,
          [](IEngineInspector& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.");
}

}  // namespace kiln::python
