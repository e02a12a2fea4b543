// The extension module `tensorrt.tensorrt`. A class is bound after its bases and after the enums of its defaults.

#include <exception>

#include "bindings.h"
#include "kiln.h"

namespace kiln::python {
namespace {

void bind_all(nb::module_ m) {
  m.doc() = "Kiln's bindings with the names of TensorRT 10.16's module; `import tensorrt` gives them all.";
  // Objects that a program's globals still hold when the interpreter ends are no defect of the program.
  nb::set_leak_warnings(false);
  // A conversion that does not work is a TypeError; a line on the standard error would be one more.
  nb::set_implicit_cast_warnings(false);

  bind_kiln(m);
  bind_run_enums(m);
  bind_build_enums(m);
  bind_layers_enums(m);
  bind_plugins_enums(m);
  bind_dims(m);
  bind_permutation(m);
  bind_weights(m);
  bind_host_memory(m);

  bind_versioned_interface(m);
  bind_logger(m);
  bind_error_recorder(m);
  bind_observers(m);
  bind_allocators(m);
  bind_streams(m);
  bind_calibrators(m);
  bind_algorithm(m);

  bind_tensor(m);
  bind_layers_base(m);
  bind_layers_pointwise(m);
  bind_layers_window(m);
  bind_layers_reduction(m);
  bind_layers_movement(m);
  bind_layers_transformer(m);
  bind_loops(m);
  bind_network(m);

  bind_profile(m);
  bind_timing_cache(m);
  bind_config(m);
  bind_builder(m);
  bind_parser(m);

  bind_serialization(m);
  bind_context(m);
  bind_inspector(m);
  bind_engine(m);
  bind_runtime(m);
  bind_refitter(m);
  bind_plugin_library(m);

  bind_plugin_fields(m);
  bind_plugin_shapes(m);
  bind_plugin_kernels(m);
  bind_plugin_native(m);
  bind_plugin_creators(m);
  bind_plugin_resources(m);
  bind_registry(m);
  bind_plugin_memory(m);
  bind_plugin_layers(m);
}

/// Where the interpreter keeps the module that was filled first, to its end.
constexpr const char* kFirstModule = "kiln.tensorrt";

/// Fills a module that is imported again, after a program has taken it out of sys.modules, as tests do: with what the
/// first one has, since nanobind's types exist once.
int fill_again(PyObject* self, PyObject* first) noexcept {
  return PyDict_Merge(PyModule_GetDict(self), PyModule_GetDict(first), /*override=*/0);
}

/// Fills the module, as nanobind's NB_MODULE does. The check comes before anything of nanobind runs: the process has
/// one set of nanobind's types, and a second interpreter's would take the place of the main one's. PyInit_tensorrt
/// cannot check: Python 3.13 calls it in the main interpreter.
int execute(PyObject* self) noexcept {
  // Callbacks find their interpreter by the thread alone (PyGILState_Ensure), which knows the main one only.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "tensorrt: Kiln's module works in the main interpreter only, not in a subinterpreter");
    return -1;
  }
  PyObject* const kept = PyInterpreterState_GetDict(PyInterpreterState_Get());
  if (kept == nullptr) return -1;
  if (PyObject* const first = PyDict_GetItemString(kept, kFirstModule)) return fill_again(self, first);
  if (!nb::register_module(self)) return -1;
  try {
    bind_all(nb::borrow<nb::module_>(self));
    return PyDict_SetItemString(kept, kFirstModule, self);
  } catch (nb::python_error& error) {
    error.restore();
    nb::chain_error(PyExc_ImportError, "tensorrt: Kiln's module could not be set up");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ImportError, error.what());
  }
  return -1;
}

PyModuleDef_Slot g_slots[] = {{Py_mod_exec, reinterpret_cast<void*>(&execute)},
#ifdef Py_mod_multiple_interpreters  // since Python 3.12
                              {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
                              {0, nullptr}};

PyModuleDef g_module{.m_base = PyModuleDef_HEAD_INIT,
                     .m_name = "tensorrt",
                     .m_doc = nullptr,
                     .m_size = 0,
                     .m_methods = nullptr,
                     .m_slots = g_slots,
                     .m_traverse = nullptr,
                     .m_clear = nullptr,
                     .m_free = nullptr};

}  // namespace
}  // namespace kiln::python

extern "C" NB_EXPORT PyObject* PyInit_tensorrt() { return PyModuleDef_Init(&kiln::python::g_module); }
