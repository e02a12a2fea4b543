#include "error_text.h"

namespace kiln::python {

std::string to_utf8(nb::handle text) {
  const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!encoded.is_valid()) throw nb::python_error();
  const auto bytes = nb::borrow<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

std::string traceback_of(const nb::python_error& error) {
  const nb::handle traceback = error.traceback();
  try {
    const nb::object lines = nb::module_::import_("traceback")
                                 .attr("format_exception")(error.type(), error.value(),
                                                           traceback.is_valid() ? traceback : nb::handle(Py_None));
    return to_utf8(nb::str("").attr("join")(lines).attr("rstrip")());
  } catch (const nb::python_error&) {  // the interpreter is short of memory, or near its end
    return {};
  }
}

}  // namespace kiln::python
