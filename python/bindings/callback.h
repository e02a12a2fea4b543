// Calls between C++ and Python in both directions: what a program's class overrides is called from C++, on any thread,
// and its exceptions become errors that name the method; calls that may take long or call back run without the GIL.

#pragma once

#include <NvInfer.h>
#include <nanobind/trampoline.h>

#include <concepts>
#include <exception>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings.h"
#include "gil.h"

namespace kiln::python {

/// The name of a method in an error's text.
struct CallbackName {
  const char* interface;
  const char* method;
};

/// Turns the exception in flight into an error: of the error recorder and the logger of the call that is under way, or
/// of the logger used last. A logger's own exceptions go to sys.unraisablehook. KeyboardInterrupt and its like are kept
/// and raised when the call returns to Python. Takes the GIL.
void report_exception(CallbackName name) noexcept;
/// Reports a method that the program's class lacks, to the same places as report_exception.
void report_missing(CallbackName name) noexcept;
/// Reports a message that is not an exception's, to the same places as report_exception.
void report_failure(CallbackName name, const char* message) noexcept;

/// Keeps the exception in flight, of any kind, for the call that is under way: it is raised when that returns. The
/// exception can still be reported. Needs the GIL.
void keep_exception(CallbackName name);

/// A Python string of C++ text, which need not be valid UTF-8; None for null.
nb::object to_str(const char* text);

/// Keeps KeyboardInterrupt or its like, the exception in flight, for the call that is under way. Needs the GIL.
void keep_interrupt();

/// The recorder and the logger that hear of an error of a callback: those of the call that is under way, else the
/// logger used last; null where there is none. Keeps their Python objects: to tell the first runs Python, and a call of
/// another thread may be over when the second one is told. Needs the GIL.
class Listeners {
 public:
  Listeners();
  /// Tells the recorder as much of `brief` as it takes, and the logger `full`. Returns whether there is a logger; where
  /// there is none, the error goes to sys.unraisablehook.
  bool tell(const std::string& brief, const std::string& full) const;

  nvinfer1::IErrorRecorder* recorder = nullptr;
  nvinfer1::ILogger* logger = nullptr;

 private:
  nb::object keeps_[2];
};
/// Gives sys.unraisablehook an error that is no exception yet. `where` names the method.
void tell_unraisable(const std::string& text, const std::string& where);
/// While it is there, Python calls a method of an object that its class may override. The first callback takes it.
class PythonCall {
 public:
  PythonCall() noexcept { flag() = true; }
  ~PythonCall() { flag() = false; }
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  /// Whether the callback of this thread that begins now is what Python calls.
  static bool take() noexcept { return std::exchange(flag(), false); }

 private:
  static bool& flag() noexcept;
};

/// "ValueError: its text", or "ValueError" where there is none, or where the text itself raises.
std::string type_and_text(const nb::python_error& error);

/// Binds a method that programs override, so that Python's calls of it are known: a method that calls its base's, as by
/// super(), is not called again, since that would have no end.
template <auto Method>
constexpr auto from_python = nullptr;
template <class Object, class Result, class... Args, bool kNoexcept,
          Result (Object::*Method)(Args...) noexcept(kNoexcept)>
constexpr auto from_python<Method> = [](Object& self, Args... args) -> Result {
  const PythonCall mark;
  return (self.*Method)(std::forward<Args>(args)...);
};
template <class Object, class Result, class... Args, bool kNoexcept,
          Result (Object::*Method)(Args...) const noexcept(kNoexcept)>
constexpr auto from_python<Method> = [](const Object& self, Args... args) -> Result {
  const PythonCall mark;
  return (self.*Method)(std::forward<Args>(args)...);
};

/// A callback that its own method causes, by a call of the library or by memory that Python frees meanwhile: as an
/// error of an error recorder's own call. So deep they are not called any more.
class NestedCall {
 public:
  NestedCall() noexcept { ++depth(); }
  ~NestedCall() { --depth(); }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;
  static bool is_too_deep() noexcept { return depth() >= 8; }

 private:
  static int& depth() noexcept;
};

/// Whether the program's class defines a method in Python.
bool defines(nb::handle object, const char* method);

/// Calls `body(method)` with the GIL, `method` being the program's Python method. Answers what `body` answers;
/// `missing()` where the class does not override the method; `failure` where it raised, which is reported, or where
/// Python has ended.
template <class Result, class Body, class Missing>
Result call(const nb::detail::trampoline& self, CallbackName name, Body&& body, Result failure,
            Missing&& missing) noexcept {
  const bool is_from_python = PythonCall::take();
  const PythonLock lock;
  if (!lock) return failure;
  const nb::object alive = nb::borrow(self.base());  // the method may give away the last reference to its object
  try {
    const nb::detail::ticket ticket(self, name.method, nb::detail::str_hash(name.method), /*pure=*/false);
    if (ticket.key.is_valid()) return body(nb::object(self.base().attr(ticket.key)));
    // nanobind takes whatever a method causes of itself for a call of its base.
    if (!is_from_python && defines(self.base(), name.method)) {
      if (NestedCall::is_too_deep()) {
        report_failure(name, "is called out of itself again and again: that call is left out");
        return failure;
      }
      const NestedCall nested;
      return body(nb::object(self.base().attr(name.method)));
    }
  } catch (...) {
    report_exception(name);
    return failure;
  }
  return missing();
}

/// Calls a method that the class has to define: a class that lacks it is an error, and answers `failure`.
template <class Result, class Body>
Result call(const nb::detail::trampoline& self, CallbackName name, Body&& body, Result failure) noexcept {
  return call(self, name, std::forward<Body>(body), failure, [&] {
    report_missing(name);
    return failure;
  });
}

/// Calls a method that answers nothing.
template <class Result, class Body>
requires std::is_void_v<Result>
void call(const nb::detail::trampoline& self, CallbackName name, Body&& body) noexcept {
  call(
      self, name,
      [&](const nb::object& method) {
        body(method);
        return true;
      },
      false);
}

/// A call from Python into the library that may call back. Made and destroyed with the GIL.
class CallScope {
 public:
  template <class Object>
  explicit CallScope(Object& object) : object_(const_cast<void*>(static_cast<const void*>(&object))) {
    if constexpr (requires { object.getErrorRecorder(); })
      recorder_of_ = [](void* it) -> nvinfer1::IErrorRecorder* { return static_cast<Object*>(it)->getErrorRecorder(); };
    if constexpr (requires { object.getLogger(); })
      logger_of_ = [](void* it) -> nvinfer1::ILogger* { return static_cast<Object*>(it)->getLogger(); };
    else if constexpr (requires { object.getBuilder().getLogger(); })
      logger_of_ = [](void* it) -> nvinfer1::ILogger* { return static_cast<Object*>(it)->getBuilder().getLogger(); };
    enter();
  }
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Whether a callback raised what its call raises: KeyboardInterrupt or its like, or what a calibrator raised.
  /// rethrow throws it.
  bool interrupted() const { return pending_ != nullptr; }
  [[noreturn]] void rethrow();

  /// The scope of this thread, else the one that was entered last by any; null where no call is under way.
  static CallScope* current();
  nvinfer1::IErrorRecorder* recorder() const { return recorder_of_ == nullptr ? nullptr : recorder_of_(object_); }
  nvinfer1::ILogger* logger() const { return logger_of_ == nullptr ? nullptr : logger_of_(object_); }
  /// Lets go of a callback's object that was replaced, when the calls that are under way have ended: they may use it
  /// still, and one of them may be in it.
  static void retire(nb::object value);
  /// Whether it is asked about these words for the first time.
  bool is_new(const std::string& words) { return told_.insert(words).second; }
  /// Keeps an exception for rethrow, unless there is one.
  void keep(std::exception_ptr exception);

 private:
  void enter();

  void* object_;
  nvinfer1::IErrorRecorder* (*recorder_of_)(void*) = nullptr;
  nvinfer1::ILogger* (*logger_of_)(void*) = nullptr;
  unsigned long thread_ = 0;
  uint64_t number_ = 0;  ///< Scopes that were entered later have a larger one.
  CallScope* before_ = nullptr;
  CallScope* after_ = nullptr;
  std::exception_ptr pending_;
  std::set<std::string> told_;
};

/// Runs `body` without the GIL, as a call of `object`: its recorder and logger hear of callbacks that fail. What it
/// answers is the caller's to own; where a callback was interrupted, it is deleted and the interrupt is raised.
template <class Object, class Body>
auto without_gil(Object& object, Body&& body) {
  CallScope scope(object);
  using Result = std::invoke_result_t<Body>;
  if constexpr (std::is_void_v<Result>) {
    {
      const PythonUnlock unlocked;
      body();
    }
    if (scope.interrupted()) scope.rethrow();
  } else {
    Result result = [&] {
      const PythonUnlock unlocked;
      return body();
    }();
    if (scope.interrupted()) {
      if constexpr (std::is_pointer_v<Result>)
        if constexpr (std::is_destructible_v<std::remove_pointer_t<Result>>) delete result;
      scope.rethrow();
    }
    return result;
  }
}

/// Runs `body` without the GIL. What makes an object may have to wait for a thread that logs, and that needs the GIL.
template <class Body>
auto without_gil(Body&& body) {
  const PythonUnlock unlocked;
  return body();
}

/// Remembers the logger of an object that was made, which reports what no call under way can. The library keeps the
/// process's first logger for good, so that one stays.
void remember_logger(nb::handle object, const nvinfer1::ILogger& logger);
/// The logger that was remembered last, if it is still there; else a null object.
nb::object last_logger();

}  // namespace kiln::python
