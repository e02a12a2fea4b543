#include "plugin_calls.h"

#include <nanobind/stl/string.h>

#include <exception>

#include "callback.h"
#include "error_text.h"
#include "kiln.h"

namespace kiln::python {
namespace {

std::string text_attribute(nb::handle object, const char* name) {
  // Neither hasattr nor getattr with a default: from Python 3.13 on they tell sys.unraisablehook what the attribute
  // raises.
  try {
    if (std::string text; object && nb::try_cast(nb::object(object.attr(name)), text)) return text;
  } catch (const nb::python_error& failure) {  // it has none
    if (!failure.matches(PyExc_Exception)) keep_interrupt();
  }
  return {};
}

/// "plugin 'Pad'", or what is known of that; else "an object of class 'Pad'".
std::string name_of(nb::handle object) {
  for (const char* attribute : {"plugin_name", "plugin_type"})
    if (const std::string name = text_attribute(object, attribute); !name.empty()) return "plugin '" + name + "'";
  if (const std::string name = text_attribute(object, "name"); !name.empty())
    return "the creator of plugin '" + name + "'";
  return "an object of class '" + nb::cast<std::string>(object.type().attr("__name__")) + "'";
}

/// " version '1' of namespace 'mine'", as far as that is known.
std::string version_of(nb::handle object) {
  const std::string version = text_attribute(object, "plugin_version");
  const std::string space = text_attribute(object, "plugin_namespace");
  return (version.empty() ? "" : " version '" + version + "'") + (space.empty() ? "" : " of namespace '" + space + "'");
}

/// A failure that is no error, since the run calls the method again: the verbose log alone hears of it.
void report_try(const std::string& text) {
  const Listeners to;
  if (to.logger)
    to.logger->log(nvinfer1::ILogger::Severity::kVERBOSE, ("in a run that was to be recorded, " + text).c_str());
}

/// Reports a failure as callback.h does; `raised` is null where it is no exception of Python's.
void report(nb::handle object, const char* method, const std::string& failure, nb::python_error* raised, Told told) {
  const std::string name = name_of(object), what = std::string(": ") + method + failure;
  const std::string words = name + version_of(object) + what;
  const std::string text = raised ? words + "\n" + traceback_of(*raised) : words;
  if (enqueue_is_recorded()) return report_try(text);
  if (CallScope* const scope = CallScope::current(); told == Told::kOnce && scope && !scope->is_new(words)) return;
  if (Listeners().tell(name + what, text)) return;
  const std::string where = name + version_of(object) + ": " + method;
  if (raised)
    raised->discard_as_unraisable(where.c_str());
  else
    tell_unraisable(words, where);
}

void report_python_error(nb::handle object, const char* method, nb::python_error& failure, Told told) {
  if (!failure.matches(PyExc_Exception)) return keep_interrupt();
  report(object, method, " raised " + type_and_text(failure), &failure, told);
}

bool is_integral(nb::handle value) {
  return PyLong_Check(value.ptr()) || nb::isinstance(value, nb::module_::import_("numbers").attr("Integral"));
}

}  // namespace

PythonSide::~PythonSide() {
  const PythonLock lock;
  if (lock)
    object_.reset();
  else
    object_.release();
}

void report_exception(nb::handle object, const char* method, Told told) noexcept {
  try {
    try {
      throw;
    } catch (nb::python_error& failure) {
      report_python_error(object, method, failure, told);
    } catch (const std::exception& failure) {
      report(object, method, std::string(": ") + failure.what(), nullptr, told);
    }
  } catch (...) {  // no memory for a text, or what an attribute of the object raised
    PyErr_SetString(PyExc_RuntimeError, "the method of a plugin raised an exception that cannot be shown");
    nb::python_error().discard_as_unraisable(method);
  }
}

void require_no_failure(nb::handle result) {
  if (result.is_none() || !is_integral(result)) return;
  const auto status = nb::steal<nb::int_>(PyNumber_Index(result.ptr()));
  if (!status.is_valid()) nb::raise_python_error();
  if (status < nb::int_(0))
    throw nb::value_error(("it returned " + nb::cast<std::string>(nb::str(status)) + ", a status of failure").c_str());
}

void wrong_result(nb::handle result, const char* needed) {
  const auto type = nb::cast<std::string>(result.type().attr("__name__"));
  throw nb::type_error((std::string("it returned ") +
                        (result.is_none() ? "None" : "an object of class '" + type + "'") + "; " + needed +
                        " is needed")
                           .c_str());
}

}  // namespace kiln::python
