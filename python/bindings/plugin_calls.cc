#include "plugin_calls.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <exception>
#include <thread>

#include "callback.h"

namespace kiln::python {
namespace {

std::atomic<bool> interpreter_is_ending = false;
std::thread::id ending_thread;  // written once, before the flag above

/// Whether this thread may ask for the GIL: a thread that does so while another takes the interpreter down never returns.
bool may_enter() {
  if (!nb::is_alive()) return false;
  return !interpreter_is_ending.load(std::memory_order_acquire) || ending_thread == std::this_thread::get_id();
}

std::string text_attribute(nb::handle object, const char* name) {
  std::string text;
  if (object && nb::hasattr(object, name) && nb::try_cast(nb::object(object.attr(name)), text)) return text;
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

/// Tells the recorder and the logger of the call that is under way, or the logger used last.
void report(nb::handle object, const char* method, const std::string& failure, const std::string& traceback) {
  const std::string name = name_of(object), what = std::string(": ") + method + failure;
  const std::string words = name + version_of(object) + what;
  const CallScope* const scope = CallScope::current();
  if (nvinfer1::IErrorRecorder* const recorder = scope ? scope->recorder() : nullptr)
    recorder->reportError(nvinfer1::ErrorCode::kUNSPECIFIED_ERROR,
                          (name + what).substr(0, nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH).c_str());
  const nb::object last = last_logger();
  nvinfer1::ILogger* logger = scope ? scope->logger() : nullptr;
  if (!logger && last.is_valid()) logger = nb::cast<nvinfer1::ILogger*>(last);
  const std::string text = traceback.empty() ? words : words + "\n" + traceback;
  if (logger)
    logger->log(nvinfer1::ILogger::Severity::kERROR, text.c_str());
  else
    nb::module_::import_("sys").attr("stderr").attr("write")(text + "\n");
}

/// KeyboardInterrupt and its like end what the program does; they go on where control is back in Python.
void keep_interrupt() {
  if (CallScope* const scope = CallScope::current())
    scope->keep(std::current_exception());
  else
    PyErr_SetInterrupt();
}

void report_python_error(nb::handle object, const char* method, nb::python_error& failure) {
  if (!failure.matches(PyExc_Exception)) return keep_interrupt();
  const std::string type = nb::cast<std::string>(failure.type().attr("__name__"));
  const std::string words = nb::str(failure.value()).c_str();
  report(object, method, " raised " + (words.empty() ? type : type + ": " + words), failure.what());
}

}  // namespace

PythonLock::PythonLock() : is_held_(may_enter()) {
  if (is_held_) state_ = PyGILState_Ensure();
}

PythonLock::~PythonLock() {
  if (is_held_) PyGILState_Release(state_);
}

void PythonLock::interpreter_ends() {
  ending_thread = std::this_thread::get_id();
  interpreter_is_ending.store(true, std::memory_order_release);
}

PythonSide::~PythonSide() {
  const PythonLock lock;
  if (lock)
    object_.reset();
  else
    object_.release();
}

void report_exception(nb::handle object, const char* method) noexcept {
  try {
    try {
      throw;
    } catch (nb::python_error& failure) {
      report_python_error(object, method, failure);
    } catch (const std::exception& failure) {
      report(object, method, std::string(": ") + failure.what(), {});
    }
  } catch (...) {  // what the exception's own text raised
    nb::print("a plugin's method raised an exception that cannot be shown");
  }
}

void wrong_result(nb::handle result, const char* needed) {
  const auto type = nb::cast<std::string>(result.type().attr("__name__"));
  throw nb::type_error((std::string("it returned ") + (result.is_none() ? "None" : "an object of class '" + type + "'") +
                        "; " + needed + " is needed")
                           .c_str());
}

}  // namespace kiln::python
