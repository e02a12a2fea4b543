// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "callback.h"

#include <pythread.h>

#include <string>
#include <string_view>

#include "convert.h"

namespace kiln::python {

using nvinfer1::IErrorRecorder, nvinfer1::ILogger;

namespace {

// Both are read and written with the GIL alone.
CallScope* g_newest = nullptr;
PyObject* g_last_logger = nullptr;  ///< A weak reference.

constexpr size_t kLongestDescription = IErrorRecorder::kMAX_DESC_LENGTH;

}  // namespace

nb::object last_logger() {
  if (g_last_logger == nullptr) return nb::object();
  const nb::object found = nb::borrow(g_last_logger)();
  return found.is_none() ? nb::object() : found;
}

namespace {

bool is_own_channel(CallbackName name, std::string_view interface) { return interface == name.interface; }

/// Tells recorder and logger; false where there is no logger to tell.
bool tell(CallbackName name, const std::string& message) {
  CallScope* scope = CallScope::current();
  if (scope != nullptr && !is_own_channel(name, "IErrorRecorder"))
    if (IErrorRecorder* recorder = scope->recorder())
      recorder->reportError(nvinfer1::ErrorCode::kUNSPECIFIED_ERROR, message.substr(0, kLongestDescription).c_str());
  if (is_own_channel(name, "ILogger")) return false;
  if (scope != nullptr && scope->logger() != nullptr) {
    scope->logger()->log(ILogger::Severity::kERROR, message.c_str());
    return true;
  }
  const nb::object logger = last_logger();
  if (!logger.is_valid()) return false;
  nb::cast<ILogger&>(logger).log(ILogger::Severity::kERROR, message.c_str());
  return true;
}

std::string describe(CallbackName name) { return str(name.interface, ".", name.method); }

/// KeyboardInterrupt, SystemExit: what is not an error of the callback but ends what the program does.
bool is_interrupt(const nb::python_error& error) { return !error.matches(PyExc_Exception); }

void report_python_error(CallbackName name, nb::python_error& error) {
  if (is_interrupt(error)) {
    if (CallScope* scope = CallScope::current()) {
      scope->keep(std::current_exception());
    } else {
      PyErr_SetInterrupt();
    }
    return;
  }
  if (!tell(name, str("the Python method ", describe(name), " raised: ", error.what())))
    error.discard_as_unraisable(describe(name).c_str());
}

}  // namespace

void report_exception(CallbackName name) noexcept {
  const nb::gil_scoped_acquire gil;
  try {
    throw;
  } catch (nb::python_error& error) {
    try {
      report_python_error(name, error);
    } catch (...) {  // no memory for a text
    }
  } catch (const nb::cast_error&) {
    report_failure(name, "answered a value of the wrong type");
  } catch (const std::exception& error) {
    report_failure(name, error.what());
  } catch (...) {
    report_failure(name, "failed");
  }
}

void report_missing(CallbackName name) noexcept { report_failure(name, "is needed, and the class does not define it"); }

void report_failure(CallbackName name, const char* message) noexcept {
  const nb::gil_scoped_acquire gil;
  try {
    const std::string text = str("the Python method ", describe(name), " ", message);
    if (tell(name, text)) return;
    PyErr_SetString(PyExc_RuntimeError, text.c_str());
    nb::python_error().discard_as_unraisable(describe(name).c_str());
  } catch (...) {  // no memory for a text
  }
}

nb::object to_str(const char* text) {
  if (text == nullptr) return nb::none();
  const std::string_view view(text);
  return nb::steal(PyUnicode_DecodeUTF8(view.data(), static_cast<Py_ssize_t>(view.size()), "replace"));
}

void CallScope::enter() {
  thread_ = PyThread_get_thread_ident();
  before_ = g_newest;
  if (before_ != nullptr) before_->after_ = this;
  g_newest = this;
}

CallScope::~CallScope() {
  if (before_ != nullptr) before_->after_ = after_;
  (after_ != nullptr ? after_->before_ : g_newest) = before_;
}

CallScope* CallScope::current() {
  const unsigned long thread = PyThread_get_thread_ident();
  for (CallScope* scope = g_newest; scope != nullptr; scope = scope->before_)
    if (scope->thread_ == thread) return scope;
  return g_newest;
}

void CallScope::keep(std::exception_ptr exception) {
  if (!pending_) pending_ = std::move(exception);
}

void CallScope::rethrow() { std::rethrow_exception(pending_); }

void remember_logger(nb::handle object, const ILogger& logger) {
  PyObject* weak = PyWeakref_NewRef(object.ptr(), nullptr);
  if (weak == nullptr) throw nb::python_error();
  Py_XSETREF(g_last_logger, weak);
  static bool first_stays = false;
  if (first_stays || getLogger() != &logger) return;
  object.inc_ref();
  first_stays = true;
}

}  // namespace kiln::python
