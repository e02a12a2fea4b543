#include "convert.h"

namespace kiln::python {

using nvinfer1::DataType;
using nvinfer1::Dims;

namespace {

/// An int, or what has __index__, as numpy's ints have. Leaves a Python error and answers false for others.
bool load_extent(PyObject* item, int64_t& extent) {
  const nb::object index = nb::steal(PyNumber_Index(item));
  if (!index.is_valid()) return false;
  extent = PyLong_AsLongLong(index.ptr());
  return extent != -1 || PyErr_Occurred() == nullptr;
}

/// Leaves a Python error and answers false for what is no shape.
bool load_dims(PyObject* sequence, Dims& dims) {
  const Py_ssize_t length = PySequence_Size(sequence);
  if (length < 0) return false;
  if (length > Dims::MAX_DIMS) {
    PyErr_Format(PyExc_ValueError, "a shape has at most %d extents, not %zd", int{Dims::MAX_DIMS}, length);
    return false;
  }
  dims = Dims{};
  dims.nbDims = static_cast<int32_t>(length);
  for (Py_ssize_t i = 0; i < length; ++i) {
    const nb::object item = nb::steal(PySequence_GetItem(sequence, i));
    if (!item.is_valid() || !load_extent(item.ptr(), dims.d[i])) return false;
  }
  return true;
}

}  // namespace

Dims to_dims(const Sequence& sequence) {
  Dims dims;
  if (!load_dims(sequence.ptr(), dims)) throw nb::python_error();
  return dims;
}

bool try_dims(nb::handle object, Dims& dims) noexcept {
  if (!Sequence::is_sequence(object.ptr())) return false;
  if (load_dims(object.ptr(), dims)) return true;
  PyErr_Clear();
  return false;
}

std::string to_text(const Dims& dims) {
  if (dims.nbDims < 0) return "Dims(invalid)";
  std::string text = "(";
  for (size_t i = 0; i < checked_rank(dims); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims.d[i]);
  return text + (dims.nbDims == 1 ? ",)" : ")");
}

size_t checked_rank(const Dims& dims) {
  if (dims.nbDims < 0) throw nb::value_error("the shape is invalid: a call that failed has answered it");
  return static_cast<size_t>(dims.nbDims);
}

void throw_not_defined(const char* method) {
  PyErr_Format(PyExc_NotImplementedError, "%s is called on the class that has to be derived, which does not define it",
               method);
  throw nb::python_error();
}

int64_t size_bytes(DataType type) {
  switch (type) {
    case DataType::kINT64: return 8;
    case DataType::kFLOAT:
    case DataType::kINT32: return 4;
    case DataType::kHALF:
    case DataType::kBF16: return 2;
    case DataType::kINT8:
    case DataType::kBOOL:
    case DataType::kUINT8:
    case DataType::kFP8:
    case DataType::kE8M0: return 1;
    case DataType::kINT4:
    case DataType::kFP4: return 0;
  }
  return 0;
}

}  // namespace kiln::python
