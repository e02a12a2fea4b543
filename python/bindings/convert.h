// Conversions between Python's values and the API's that several areas need.

#pragma once

#include <NvInfer.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"

namespace kiln::python {

/// The arguments' texts, one behind the other.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream text;
  (text << ... << args);
  return std::move(text).str();
}

/// A Python sequence that is neither text nor bytes.
class Sequence : public nb::object {
 public:
  static bool is_sequence(PyObject* object) {
    return PySequence_Check(object) != 0 && PyUnicode_Check(object) == 0 && PyBytes_Check(object) == 0 &&
           PyByteArray_Check(object) == 0;
  }
  NB_OBJECT_DEFAULT(Sequence, nb::object, "collections.abc.Sequence[int]", is_sequence)
};

/// Extents from a sequence of at most Dims::MAX_DIMS ints; throws ValueError for more of them, TypeError for others.
nvinfer1::Dims to_dims(const Sequence& sequence);
/// Reads extents as to_dims does; returns false instead of an exception.
bool try_dims(nb::handle object, nvinfer1::Dims& dims) noexcept;
/// Extents like a tuple's, as in "(2, -1)"; "Dims(invalid)" for the shape without a rank that the API answers for
/// errors.
std::string to_text(const nvinfer1::Dims& dims);
/// The number of extents; throws ValueError where there is none.
size_t checked_rank(const nvinfer1::Dims& dims);

/// Size of an element in bytes; 0 for types of less than a byte.
int64_t size_bytes(nvinfer1::DataType type);

/// The addresses that programs hand over as ints.
inline void* to_pointer(size_t address) { return reinterpret_cast<void*>(address); }
inline size_t to_address(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline cudaStream_t to_stream(size_t handle) { return reinterpret_cast<cudaStream_t>(handle); }

/// Bytes of an object with the buffer protocol (bytes, a memoryview, a numpy array, a host memory); contiguous, and
/// held while this lives.
class Buffer {
 public:
  /// Throws what Python says where the object has no contiguous buffer. With PyBUF_WRITABLE it has to be writable.
  explicit Buffer(nb::handle object, int flags = PyBUF_SIMPLE) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  Buffer(Buffer&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }  // does nothing for one that was moved from

  char* data() const { return static_cast<char*>(view_.buf); }
  size_t size_bytes() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

/// An object with the buffer protocol, as an argument.
class BufferObject : public nb::object {
 public:
  static bool has_buffer(PyObject* object) { return PyObject_CheckBuffer(object) != 0; }
  NB_OBJECT_DEFAULT(BufferObject, nb::object, "collections.abc.Buffer", has_buffer)
};

/// Whether an object is true, as Python's bool() answers. Throws what its __bool__ raises.
inline bool is_true(nb::handle object) {
  const int answer = PyObject_IsTrue(object.ptr());
  if (answer < 0) throw nb::python_error();
  return answer != 0;
}

/// Raises NotImplementedError: a method that a program's class has to define was called on the base.
[[noreturn]] void throw_not_defined(const char* method);

/// Warns that a name of the API is deprecated: `instead` says what to use.
inline void deprecated(const char* instead) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, instead, 1) != 0) throw nb::python_error();
}
inline constexpr const char* kExplicitQuantization = "implicit quantization is deprecated: use Q/DQ layers";

}  // namespace kiln::python
