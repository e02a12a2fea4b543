/// Attributes of plugins between Python and C++.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

namespace kiln::python {

namespace nb = nanobind;

/// Contiguous memory of a Python object with the buffer protocol, which it keeps alive and in its place.
class FieldBuffer {
 public:
  /// Throws TypeError where the object has no buffer. One that is not contiguous is copied.
  explicit FieldBuffer(nb::handle object);
  FieldBuffer(const FieldBuffer&) = delete;
  FieldBuffer& operator=(const FieldBuffer&) = delete;
  ~FieldBuffer() { PyBuffer_Release(&view_); }

  const void* data() const { return view_.buf; }
  size_t size_bytes() const { return static_cast<size_t>(view_.len); }
  int32_t count() const { return count_; }  ///< elements, as the object counts them

 private:
  Py_buffer view_{};
  int32_t count_ = 0;
};

/// `tensorrt.PluginField`: a name, and elements in memory that Python owns.
struct Field {
  std::string name;
  std::shared_ptr<const FieldBuffer> data;  ///< null: none
  nvinfer1::PluginFieldType type = nvinfer1::PluginFieldType::kUNKNOWN;
  int32_t length = 0;  ///< elements

  /// Throws ValueError unless the memory has `length` elements of `type`.
  void check() const;
};

/// Bytes of that many elements. Throws ValueError for a negative number, or a type that is none.
size_t size_bytes(nvinfer1::PluginFieldType type, int32_t length);

/// The fields of a Python collection, as C++ reads them. Keeps their memory.
class FieldList {
 public:
  /// Takes any iterable of PluginField. Throws TypeError for another object, ValueError for a field without its data.
  explicit FieldList(nb::handle collection);
  FieldList(const FieldList&) = delete;
  FieldList& operator=(const FieldList&) = delete;
  const nvinfer1::PluginFieldCollection* get() const { return &collection_; }

 private:
  std::vector<Field> kept_;
  std::vector<nvinfer1::PluginField> fields_;
  nvinfer1::PluginFieldCollection collection_;
};

/// A `PluginFieldCollection_` with copies of the fields; of null an empty one.
nb::object to_python(const nvinfer1::PluginFieldCollection* fields);

}  // namespace kiln::python
