// The GIL, also while the interpreter ends. Up to Python 3.13 a thread that asks for the GIL when the interpreter has
// ended is unwound to its start. Frames of C++ do not allow that, and the process aborts. So a thread does not ask any
// more once another one ends the interpreter, which waits for threads that are in callbacks.

#pragma once

#include <nanobind/nanobind.h>

namespace kiln::python {

/// Holds the GIL while it lives; false where the interpreter is gone, or another thread is taking it down. An exception
/// that is being raised waits meanwhile: an object that goes on its way may call the program's Python, which must not
/// see it, and would lose it.
class PythonLock {
 public:
  PythonLock();
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;
  ~PythonLock();
  explicit operator bool() const { return is_held_; }
  /// Called with the GIL by the thread that ends the interpreter. Waits for other threads' callbacks to return, a while
  /// at most; no other thread may enter Python afterwards.
  static void interpreter_ends();

 private:
  bool is_held_;
  PyGILState_STATE state_{};
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;  ///< The exception that waits.
};

/// Gives the GIL away while it lives. Where another thread takes the interpreter down meanwhile, this thread stops for
/// good at the end, as Python 3.14's do.
class PythonUnlock {
 public:
  PythonUnlock() : state_(PyEval_SaveThread()) {}
  PythonUnlock(const PythonUnlock&) = delete;
  PythonUnlock& operator=(const PythonUnlock&) = delete;
  ~PythonUnlock();

 private:
  PyThreadState* state_;
};

}  // namespace kiln::python
