/// How tests steer and watch the driver that stands in for NVIDIA's: what it pretends to have, which calls fail, what
/// was called. Found in its library under the name kiln_fake_cuda.
///
/// "Device" memory is the host's. Work runs when it is queued, on the calling thread, unless its stream is captured; so
/// order is kept, and what depends on work running later goes unnoticed. Kernels do what tests say, else nothing; a
/// kernel that tests define sees the first eight bytes of each argument, or all of its only one.
///
/// A graph that runs a kernel whose arguments have the address of memory that was freed since ends the process. That
/// is seen of kernels that tests define, and in strict mode of all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/device/driver_types.h"

namespace kiln::fake_cuda {

/// Runs a launch as far as a test cares: reads and writes memory through `arguments`, as the kernel would.
using Kernel = void (*)(const cuda::LaunchConfig& launch, void** arguments);

/// The way in which a kernel goes wrong.
enum class Fault : uint8_t {
  kAtLaunch,  ///< its launch returns the result; nothing else happens
  kTrap,      ///< when it runs it breaks its device's context: every later call there returns the result
  kEndless    ///< it never ends: what waits for it would never return, which ends the process with a word on stderr
};

struct Control {
  void (*reset)();  ///< devices, version and failures as at the start; counts 0, of objects too
  void (*set_devices)(int count, int compute_major, int compute_minor);
  void (*set_version)(int version);
  /// Call `nth` (1 is the next) of the function of that exported name returns `result` and does nothing; 0: no failure.
  void (*fail)(const char* function, int64_t nth, int result);
  int64_t (*num_calls)(const char* function);  ///< null: of all functions
  int64_t (*live_bytes)();                     ///< device memory that is allocated
  int64_t (*live_objects)();                   ///< streams, events, graphs and modules that are not destroyed
  /// Defines kernels whose names start with `start`; they take `num_arguments` arguments.
  void (*define_kernel)(const char* start, Kernel kernel, int num_arguments);
  /// Defines kernels likewise, which take one argument of `argument_bytes` bytes. With a null kernel they do nothing
  /// again.
  void (*define_struct_kernel)(const char* start, Kernel kernel, int argument_bytes);
  /// Makes kernels whose names contain `part` misbehave, until `reset`.
  void (*misbehave)(const char* part, Fault how, int result);
  int64_t (*num_misbehaved)();  ///< how often that came
};

}  // namespace kiln::fake_cuda

extern "C" const kiln::fake_cuda::Control* kiln_fake_cuda();
