// IHostMemory: bytes that the library hands out, with Python's buffer protocol.

#include <NvInfer.h>

#include "bindings.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::IHostMemory;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;  // which an exporter that fails has to leave
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "this IHostMemory was made by __new__: it has no memory");
    return -1;
  }
  auto* memory = nb::inst_ptr<IHostMemory>(self);
  const auto size = static_cast<Py_ssize_t>(memory->size());
  return PyBuffer_FillInfo(view, self, memory->data(), size, /*readonly=*/0, flags);
}

PyType_Slot kBufferSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};

}  // namespace

void bind_host_memory(nb::module_& m) {
  nb::class_<IHostMemory>(m, "IHostMemory", nb::type_slots(kBufferSlots), nb::is_weak_referenceable(),
                          "Bytes that the library made, as a plan. bytes(), memoryview() and files take it as it is.")
      .def_prop_ro("dtype", &IHostMemory::type, "The type of the elements; INT8 for a plan.")
      .def_prop_ro("nbytes", &IHostMemory::size, "The number of bytes.")
      .def("__del__", &ignore_del<IHostMemory>, kIgnoreDel);
}

}  // namespace kiln::python
