#include "gil.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace kiln::python {
namespace {

std::atomic<bool> g_interpreter_is_ending = false;
std::thread::id g_ending_thread;    // written once, before the flag above
std::atomic<int> g_num_inside = 0;  ///< Threads that ask for the GIL, or are in a callback.

/// Counts this thread among those that the interpreter waits for; false where it must not enter Python any more.
bool enter() {
  ++g_num_inside;  // before the flag is read: the thread that sets it reads this number afterwards
  if (!g_interpreter_is_ending || g_ending_thread == std::this_thread::get_id()) return true;
  --g_num_inside;
  return false;
}

void leave() { --g_num_inside; }

}  // namespace

PythonLock::PythonLock() : is_held_(nanobind::is_alive() && Py_IsInitialized() != 0 && enter()) {
  if (!is_held_) return;
  state_ = PyGILState_Ensure();
  PyErr_Fetch(&type_, &value_, &traceback_);
}

PythonLock::~PythonLock() {
  if (!is_held_) return;
  PyErr_Restore(type_, value_, traceback_);
  PyGILState_Release(state_);
  leave();
}

void PythonLock::interpreter_ends() {
  constexpr std::chrono::milliseconds kPatience(2000), kPause(1);
  g_ending_thread = std::this_thread::get_id();
  g_interpreter_is_ending = true;
  const PythonUnlock unlocked;  // they need the GIL to get on
  const auto last = std::chrono::steady_clock::now() + kPatience;
  while (g_num_inside > 0 && std::chrono::steady_clock::now() < last) std::this_thread::sleep_for(kPause);
}

PythonUnlock::~PythonUnlock() {
  while (!enter()) std::this_thread::sleep_for(std::chrono::hours(1));  // the process ends meanwhile
  PyEval_RestoreThread(state_);
  leave();
}

}  // namespace kiln::python
