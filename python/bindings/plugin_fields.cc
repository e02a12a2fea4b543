#include "plugin_fields.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <limits>

#include "bindings.h"
#include "plugins.h"

namespace kiln::python {

using nvinfer1::PluginFieldType;

FieldBuffer::FieldBuffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr()))
    throw nb::type_error("data of a PluginField is a numpy array, bytes, or another object with a buffer");
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
    // It is not contiguous: BufferError, or ValueError of numpy's arrays. Anything else has another reason.
    if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_ValueError))
      throw nb::python_error();
    PyErr_Clear();
    const nb::object view = nb::steal(PyMemoryView_FromObject(object.ptr()));
    if (!view) throw nb::python_error();
    const nb::object bytes = view.attr("tobytes")();
    if (PyObject_GetBuffer(bytes.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    view_.itemsize = nb::cast<Py_ssize_t>(view.attr("itemsize"));
  }
  const Py_ssize_t count = view_.itemsize > 0 ? view_.len / view_.itemsize : 0;
  if (count > std::numeric_limits<int32_t>::max()) {
    PyBuffer_Release(&view_);
    throw nb::value_error("data of a PluginField has 2**31 elements or more");
  }
  count_ = static_cast<int32_t>(count);
}

size_t size_bytes(PluginFieldType type, int32_t length) {
  if (length < 0) throw nb::value_error("the size of a PluginField is negative");
  const auto count = static_cast<size_t>(length);
  switch (type) {
    case PluginFieldType::kFLOAT16:
    case PluginFieldType::kBF16:
    case PluginFieldType::kINT16: return 2 * count;
    case PluginFieldType::kFLOAT32:
    case PluginFieldType::kINT32: return 4 * count;
    case PluginFieldType::kFLOAT64:
    case PluginFieldType::kINT64: return 8 * count;
    case PluginFieldType::kINT8:
    case PluginFieldType::kCHAR:
    case PluginFieldType::kFP8:
    case PluginFieldType::kUNKNOWN: return count;
    case PluginFieldType::kINT4:
    case PluginFieldType::kFP4: return (count + 1) / 2;
    case PluginFieldType::kDIMS: return sizeof(nvinfer1::Dims) * count;
  }
  throw nb::value_error("the type of a PluginField is no PluginFieldType");
}

void Field::check() const {
  const size_t needed = python::size_bytes(type, length), found = data ? data->size_bytes() : 0;
  if (needed <= found) return;
  const std::string words = "PluginField '" + name + "': " + std::to_string(length) + " elements of its type are " +
                            std::to_string(needed) + " bytes; its data has " + std::to_string(found);
  throw nb::value_error(words.c_str());
}

FieldList::FieldList(nb::handle collection) {
  if (!nb::hasattr(collection, "__iter__") && !nb::isinstance<nb::sequence>(collection))
    throw nb::type_error("a PluginFieldCollection, or a list of PluginField, is needed");
  for (const nb::handle one : collection) {
    Field* field = nullptr;
    if (!nb::try_cast(one, field) || !field)
      throw nb::type_error("a collection of plugin fields has an element that is no PluginField");
    field->check();
    kept_.push_back(*field);
  }
  for (const Field& field : kept_)
    fields_.emplace_back(field.name.c_str(), field.length > 0 ? field.data->data() : nullptr, field.type, field.length);
  collection_ = {static_cast<int32_t>(fields_.size()), fields_.data()};
}

nb::object to_python(const nvinfer1::PluginFieldCollection* fields) {
  nb::list list;
  for (int32_t i = 0; fields && i < fields->nbFields; ++i) {
    const nvinfer1::PluginField& field = fields->fields[i];
    Field copy{field.name ? field.name : "", nullptr, field.type, field.length};
    if (field.data && field.length > 0)
      copy.data = std::make_shared<const FieldBuffer>(nb::bytes(field.data, size_bytes(field.type, field.length)));
    if (!copy.data) copy.length = 0;  // a creator's list of names has no data, and may say any length
    list.append(nb::cast(std::move(copy)));
  }
  return python_part("_plugin_fields").attr("PluginFieldCollection_")(list);
}

namespace {

/// numpy's name of a type; null where numpy has none.
const char* numpy_type(PluginFieldType type) {
  switch (type) {
    case PluginFieldType::kFLOAT16: return "float16";
    case PluginFieldType::kFLOAT32: return "float32";
    case PluginFieldType::kFLOAT64: return "float64";
    case PluginFieldType::kINT8:
    case PluginFieldType::kCHAR:
    case PluginFieldType::kUNKNOWN: return "int8";
    case PluginFieldType::kINT16: return "int16";
    case PluginFieldType::kINT32: return "int32";
    case PluginFieldType::kINT64: return "int64";
    default: return nullptr;
  }
}

nb::object elements_of(const Field& field) {
  const char* const type = numpy_type(field.type);
  if (!type) {
    const std::string words = "PluginField '" + field.name + "': numpy has no type for its elements";
    throw nb::attribute_error(words.c_str());
  }
  field.check();
  const nb::bytes bytes(field.length > 0 ? field.data->data() : "", size_bytes(field.type, field.length));
  return nb::module_::import_("numpy").attr("frombuffer")(bytes, type).attr("copy")();
}

void init_named(Field* self, std::string name) { new (self) Field{std::move(name), nullptr}; }

void init_with_data(Field* self, std::string name, nb::handle data, PluginFieldType type) {
  auto buffer = std::make_shared<const FieldBuffer>(data);
  const int32_t count = buffer->count();
  new (self) Field{std::move(name), std::move(buffer), type, count};
}

}  // namespace

void bind_plugin_fields(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Field>(
      m, "PluginField",
      "An attribute of a plugin: a name and an array.\n\n"
      "data is a numpy array, bytes, or another object with a buffer, which the field keeps. Its elements "
      "are counted as that object counts them; the data of a field of type INT32 is an array of int32.")
      .def("__init__", &init_named, "name"_a = "")
      .def("__init__", &init_with_data, "name"_a, "data"_a, "type"_a = PluginFieldType::kUNKNOWN)
      .def_rw("name", &Field::name, "str: name of the attribute.")
      .def_prop_rw(
          "data", &elements_of,
          [](Field& self, nb::handle data) { self.data = std::make_shared<const FieldBuffer>(data); },
          "numpy array: a copy of the elements; int8 for CHAR and UNKNOWN. AttributeError where numpy has no such "
          "type. "
          "An assignment leaves size as it is.")
      .def_rw("type", &Field::type, "PluginFieldType: type of the elements.")
      .def_rw("size", &Field::length, "int: number of elements.");
}

}  // namespace kiln::python
