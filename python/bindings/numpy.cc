#include "numpy.h"

#include <nanobind/ndarray.h>

#include <optional>
#include <string>

#include "convert.h"

namespace kiln::python {

using nvinfer1::DataType, nvinfer1::Weights;

namespace {

struct NumpyType {
  DataType type;
  const char* name;  ///< numpy's, or ml_dtypes' for what numpy lacks.
  nb::dlpack::dtype_code code;
  bool is_numpys;
};

constexpr NumpyType kTypes[] = {
    {DataType::kFLOAT, "float32", nb::dlpack::dtype_code::Float, true},
    {DataType::kHALF, "float16", nb::dlpack::dtype_code::Float, true},
    {DataType::kINT8, "int8", nb::dlpack::dtype_code::Int, true},
    {DataType::kINT32, "int32", nb::dlpack::dtype_code::Int, true},
    {DataType::kINT64, "int64", nb::dlpack::dtype_code::Int, true},
    {DataType::kBOOL, "bool", nb::dlpack::dtype_code::Bool, true},
    {DataType::kUINT8, "uint8", nb::dlpack::dtype_code::UInt, true},
    {DataType::kBF16, "bfloat16", nb::dlpack::dtype_code::Bfloat, false},
    {DataType::kFP8, "float8_e4m3fn", nb::dlpack::dtype_code::Float8_E4M3FN, false},
};

std::optional<DataType> type_of(const NumpyArray& array) {
  const nb::object dtype = array.attr("dtype");
  if (nb::cast<std::string>(dtype.attr("byteorder")) == ">") return std::nullopt;
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  for (const NumpyType& row : kTypes)
    if (name == row.name) return row.type;
  return std::nullopt;
}

}  // namespace

bool NumpyArray::is_array(PyObject* object) {
  static PyObject* type = nullptr;  // never given back: numpy stays loaded
  if (type == nullptr) {
    // An array can only be there when numpy was imported.
    PyObject* modules = PySys_GetObject("modules");
    PyObject* numpy = modules == nullptr ? nullptr : PyDict_GetItemString(modules, "numpy");
    type = numpy == nullptr ? nullptr : PyObject_GetAttrString(numpy, "ndarray");
    if (type == nullptr) {
      PyErr_Clear();
      return false;
    }
  }
  // Not isinstance, which asks the object's __class__: that may raise, and has no place for it here.
  return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(type)) != 0;
}

Weights to_weights(const NumpyArray& array) {
  const std::optional<DataType> type = type_of(array);
  if (!type)
    throw nb::value_error(str("an array of ", nb::cast<std::string>(array.attr("dtype").attr("__str__")()),
                              " cannot be weights; there is no such DataType")
                              .c_str());
  if (!nb::cast<bool>(array.attr("flags").attr("c_contiguous")))
    throw nb::value_error("an array that is not C-contiguous cannot be weights; numpy.ascontiguousarray() makes one");
  const nb::object data = array.attr("__array_interface__")["data"];
  return {*type, to_pointer(nb::cast<size_t>(data[0])), nb::cast<int64_t>(array.attr("size"))};
}

nb::object to_numpy(const Weights& weights, nb::handle owner) {
  if (weights.values == nullptr && weights.count > 0)
    throw nb::value_error(str("weights of ", weights.count, " elements have no memory").c_str());
  for (const NumpyType& row : kTypes) {
    if (row.type != weights.type || !row.is_numpys) continue;
    const nb::dlpack::dtype dtype{static_cast<uint8_t>(row.code), static_cast<uint8_t>(8 * size_bytes(row.type)), 1};
    const size_t shape[] = {static_cast<size_t>(weights.count)};
    const nb::ndarray<nb::numpy> view(const_cast<void*>(weights.values), 1, shape, owner, nullptr, dtype);
    return nb::cast(view, nb::rv_policy::reference);
  }
  return nb::borrow(owner);
}

}  // namespace kiln::python
