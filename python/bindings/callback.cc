#include "callback.h"

#include <pythread.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "convert.h"
#include "error_text.h"

namespace kiln::python {

using nvinfer1::IErrorRecorder, nvinfer1::ILogger;

namespace {

// Both are read and written with the GIL alone.
CallScope* g_newest = nullptr;
CallScope* g_oldest = nullptr;
uint64_t g_entered = 0;  ///< Scopes so far.
/// Objects that were taken off others while calls were under way, with the number of the newest of these calls.
auto& g_retired = *new std::deque<std::pair<uint64_t, nb::object>>;  // Python may end after static objects are gone
PyObject* g_last_logger = nullptr;                                   ///< A weak reference.

}  // namespace

nb::object last_logger() {
  if (g_last_logger == nullptr) return nb::object();
  const nb::object found = nb::borrow(g_last_logger)();
  return found.is_none() ? nb::object() : found;
}

Listeners::Listeners() {
  if (const CallScope* const scope = CallScope::current()) recorder = scope->recorder(), logger = scope->logger();
  if (recorder != nullptr) keeps_[0] = nb::find(recorder);
  keeps_[1] = logger != nullptr ? nb::find(logger) : last_logger();
  if (logger == nullptr && keeps_[1].is_valid()) logger = nb::cast<ILogger*>(keeps_[1]);
}

bool Listeners::tell(const std::string& brief, const std::string& full) const {
  if (recorder != nullptr)
    recorder->reportError(nvinfer1::ErrorCode::kUNSPECIFIED_ERROR,
                          brief.substr(0, IErrorRecorder::kMAX_DESC_LENGTH).c_str());
  if (logger != nullptr) logger->log(ILogger::Severity::kERROR, full.c_str());
  return logger != nullptr;
}

void tell_unraisable(const std::string& text, const std::string& where) {
  PyErr_SetString(PyExc_RuntimeError, text.c_str());
  nb::python_error().discard_as_unraisable(where.c_str());
}

std::string type_and_text(const nb::python_error& error) {
  const std::string type = to_utf8(error.type().attr("__name__"));
  std::string text;
  try {
    text = to_utf8(nb::str(error.value()));
  } catch (const nb::python_error&) {  // of the exception's own __str__
  }
  return text.empty() ? type : type + ": " + text;
}

void keep_interrupt() {
  if (CallScope* const scope = CallScope::current())
    scope->keep(std::current_exception());
  else
    PyErr_SetInterrupt();
}

namespace {

std::string describe(CallbackName name) { return str(name.interface, ".", name.method); }

bool is_own_channel(CallbackName name, std::string_view interface) { return interface == name.interface; }

/// Tells recorder and logger; false where there is no logger to tell. The logger gets the traceback, too. A recorder or
/// a logger that raised is not told of itself.
bool tell(CallbackName name, const std::string& message, const std::string& traceback = {}) {
  Listeners to;
  if (is_own_channel(name, "IErrorRecorder")) to.recorder = nullptr;
  if (is_own_channel(name, "ILogger")) to.logger = nullptr;
  return to.tell(message, traceback.empty() ? message : message + "\n" + traceback);
}

/// KeyboardInterrupt, SystemExit: what is not an error of the callback but ends what the program does.
bool is_interrupt(const nb::python_error& error) { return !error.matches(PyExc_Exception); }

void report_python_error(CallbackName name, nb::python_error& error) {
  if (is_interrupt(error)) return keep_interrupt();
  if (!tell(name, str("the Python method ", describe(name), " raised ", type_and_text(error)), traceback_of(error)))
    error.discard_as_unraisable(describe(name).c_str());
}

}  // namespace

void keep_exception(CallbackName name) {
  CallScope* const scope = CallScope::current();
  if (scope == nullptr) return;
  try {
    throw;
  } catch (const nb::python_error& error) {
    scope->keep(std::make_exception_ptr(nb::python_error(error)));  // a report may take what the other one holds
  } catch (const nb::cast_error&) {
    const std::string text = str("the Python method ", describe(name), " answered a value of the wrong type");
    scope->keep(std::make_exception_ptr(nb::type_error(text.c_str())));
  } catch (const nb::builtin_exception& error) {
    const std::string text = str("the Python method ", describe(name), " ", error.what());
    scope->keep(std::make_exception_ptr(nb::value_error(text.c_str())));
  } catch (...) {
    scope->keep(std::current_exception());
  }
}

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

bool& PythonCall::flag() noexcept {
  thread_local bool value = false;
  return value;
}

int& NestedCall::depth() noexcept {
  thread_local int value = 0;
  return value;
}

bool defines(nb::handle object, const char* method) {
  const nb::object found = nb::getattr(object.type(), method, nb::none());
  // What the interfaces themselves define is of nanobind's type of methods. A program's may be of any type: decorators
  // make others than functions.
  return !found.is_none() && !found.type().is(nb::type<nvinfer1::ILogger>().attr("log").type());
}

void report_missing(CallbackName name) noexcept { report_failure(name, "is needed, and the class does not define it"); }

void report_failure(CallbackName name, const char* message) noexcept {
  const nb::gil_scoped_acquire gil;
  try {
    const std::string text = str("the Python method ", describe(name), " ", message);
    if (!tell(name, text)) tell_unraisable(text, describe(name));
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
  number_ = ++g_entered;
  before_ = g_newest;
  (before_ != nullptr ? before_->after_ : g_oldest) = this;
  g_newest = this;
}

CallScope::~CallScope() {
  (before_ != nullptr ? before_->after_ : g_oldest) = after_;
  (after_ != nullptr ? after_->before_ : g_newest) = before_;
  // Popped before it goes: that may run Python, and come back here.
  while (!g_retired.empty() && (g_oldest == nullptr || g_retired.front().first < g_oldest->number_)) {
    const nb::object gone = std::move(g_retired.front().second);
    g_retired.pop_front();
  }
}

void CallScope::retire(nb::object value) {
  if (g_oldest != nullptr && value.is_valid() && !value.is_none()) g_retired.emplace_back(g_entered, std::move(value));
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
  PyObject* before = std::exchange(g_last_logger, weak);
  Py_XDECREF(before);
  static bool first_stays = false;
  if (first_stays || getLogger() != &logger) return;
  object.inc_ref();
  first_stays = true;
}

}  // namespace kiln::python
