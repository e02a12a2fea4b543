/// Calls of Python code for callbacks of C++ about plugins: with the GIL, and with no exception that gets out.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gil.h"

namespace kiln::python {

namespace nb = nanobind;

/// A plugin, creator or resource that Python implements, as an adapter in C++ holds it: one reference.
class PythonSide {
 public:
  explicit PythonSide(nb::object object) : object_(std::move(object)) {}
  PythonSide(const PythonSide&) = delete;
  PythonSide& operator=(const PythonSide&) = delete;
  /// Takes the GIL. Where the interpreter is gone, so is the object.
  ~PythonSide();

  const nb::object& object() const { return object_; }
  auto attr(const char* name) const { return object_.attr(name); }

 private:
  nb::object object_;
};

/// All adapters of Python's objects to an interface, by what C++ has of them; needs the GIL.
template <class Interface>
std::set<const Interface*>& adapters() {
  static auto& all = *new std::set<const Interface*>;  // Python may end after static objects are gone
  return all;
}

/// How often a failure of the same words is told while one call of the program is under way.
enum class Told : bool { kAlways, kOnce };

/// Reports the exception that a catch clause has caught of a method of `object`, to the same places as callback.h's
/// report_exception, with the plugin's name. A KeyboardInterrupt and its like are raised when the call returns to
/// Python. Needs the GIL.
void report_exception(nb::handle object, const char* method, Told told) noexcept;

/// Returns what `body` returns; `failure`, once it is reported, where it throws, or where Python can run no more.
template <class Value, class Body>
Value answer(const PythonSide& side, const char* method, Value failure, Body body, Told told = Told::kAlways) noexcept {
  const PythonLock lock;
  if (!lock) return failure;
  try {
    return body();
  } catch (...) {
    report_exception(side.object(), method, told);
    return failure;
  }
}

/// ValueError for an integer below 0: "it returned -7, a status of failure". Other results of methods that need not
/// return anything are none.
void require_no_failure(nb::handle result);

/// 0 where `body` returns, -1 where it throws, or gives what a Python method returned, and that is a status of failure.
template <class Body>
int32_t succeeds(const PythonSide& side, const char* method, Body body) noexcept {
  return answer(side, method, int32_t{-1}, [&] {
    if constexpr (std::is_void_v<decltype(body())>)
      body();
    else
      require_no_failure(body());
    return int32_t{0};
  });
}

/// TypeError: "returned a str; `needed` is needed".
[[noreturn]] void wrong_result(nb::handle result, const char* needed);

/// A method's result as C++ takes it; `needed` says what that is, with its article.
template <class Value>
Value result_as(nb::handle result, const char* needed) {
  Value value{};
  if (!nb::try_cast(result, value)) wrong_result(result, needed);
  return value;
}

/// The elements of a list, tuple or other sequence that a method returned.
template <class Value>
std::vector<Value> results_as(nb::handle result, const char* needed) {
  if (!nb::isinstance<nb::sequence>(result)) wrong_result(result, needed);
  std::vector<Value> values;
  for (const nb::handle one : nb::borrow<nb::sequence>(result)) values.push_back(result_as<Value>(one, needed));
  return values;
}

/// A list of copies, as Python is given arrays of C++.
template <class Value>
nb::list list_of(const Value* values, int32_t count) {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(nb::cast(Value(values[i])));
  return list;
}

/// A list of addresses, as int.
template <class Pointer>
nb::list addresses_of(const Pointer* pointers, int32_t count) {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(nb::int_(reinterpret_cast<uintptr_t>(pointers[i])));
  return list;
}

/// Text that an attribute gave, kept for C++, which gets a pointer. The pointer stays valid while the text is the same.
class KeptText {
 public:
  const char* keep(std::string text) {
    if (text != text_) text_ = std::move(text);
    return text_.c_str();
  }

 private:
  std::string text_;
};

}  // namespace kiln::python
