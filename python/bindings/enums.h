// How the module's enums behave: as those of TensorRT's module, which print "DataType.FLOAT" and "<DataType.FLOAT: 0>".

#pragma once

#include "bindings.h"

namespace kiln::python {

/// Gives an enum the texts of TensorRT's module: nanobind's repr() has no value, IntEnum's format() no name.
inline void print_like_enum(nb::handle type) {
  const nb::object plain = nb::module_::import_("enum").attr("Enum");
  for (const char* method : {"__repr__", "__format__"}) nb::setattr(type, method, plain.attr(method));
}

/// An enum whose members equal nothing but themselves. int() and index() give their values.
template <class T>
nb::enum_<T> strict_enum(nb::handle scope, const char* name, const char* doc) {
  nb::enum_<T> type(scope, name, doc);
  print_like_enum(type);
  const auto value = [](T self) { return static_cast<int64_t>(self); };
  type.def("__int__", value, "The member's value.").def("__index__", value, "The member's value.");
  return type;
}

/// An enum whose members are ints: they compare and combine with ints.
template <class T>
nb::enum_<T> int_enum(nb::handle scope, const char* name, const char* doc) {
  nb::enum_<T> type(scope, name, doc, nb::is_arithmetic());
  print_like_enum(type);
  return type;
}

}  // namespace kiln::python
