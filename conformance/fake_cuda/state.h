/// The state of the stand-in driver, behind one mutex: speed is not its business.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/device/memset_nodes.h"
#include "backend/cuda/device/testing/fake_cuda.h"

namespace kiln::cuda {

struct CudaContextObject {
  int device = 0;
  int users = 0;
};
/// A launch with the values that its arguments had, as far as a kernel that tests define wants them.
struct FakeLaunch {
  LaunchConfig config{};
  FunctionHandle function = nullptr;
  std::vector<uint64_t> values;
  std::vector<void*> pointers;   ///< to them, or to the first, of which all are the argument
  std::vector<uint64_t> memory;  ///< that the arguments point to, as far as it is looked after
};
/// Work of a graph, which stays where it is.
struct CudaGraphNodeObject {
  GraphHandle graph = nullptr;
  std::function<int()> work;
  std::shared_ptr<FakeLaunch> launch;        ///< null: no kernel
  std::shared_ptr<MemsetNodeParams> memset;  ///< null: no memset
  std::vector<GraphNodeHandle> dependencies;
};
struct CudaModuleObject {
  std::string image;
  std::map<std::string, std::unique_ptr<CudaFunctionObject>> functions;
};
struct CudaFunctionObject {
  std::string name;
  const std::string* image;  ///< its module's
  std::map<int, int> attributes;
};
struct CudaGraphObject {
  std::list<CudaGraphNodeObject> nodes;
};

}  // namespace kiln::cuda

namespace kiln::fake_cuda {

using Work = std::function<int()>;

/// Work recorded from the stream where it began and those that joined it.
struct Capture {
  std::unique_ptr<cuda::CudaGraphObject> own_graph;  ///< null where it records into another's
  cuda::GraphHandle graph = nullptr;
  cuda::GraphNodeHandle latest = nullptr;
  const void* origin = nullptr;
  bool broken = false;
};
struct Allocation {
  size_t bytes = 0;
  int device = 0;
  int type = cuda::kMemoryDevice;
  bool managed = false;
};

struct State {
  std::recursive_mutex mutex;
  int num_devices = 1, compute_major = 9, compute_minor = 0, version = 13000;
  bool started = false;
  std::map<std::string, int64_t> calls;
  struct Failure {
    std::string function;
    int64_t left = 0;
    int result = 0;
  } failure;
  struct DefinedKernel {
    Kernel run = nullptr;
    int num_arguments = 0, argument_bytes = 8;
  };
  std::map<std::string, DefinedKernel> kernels;  // by the start of their names
  std::map<uintptr_t, Allocation> allocations;   // by address
  int64_t live_objects = 0;
  cuda::CudaContextObject contexts[8];
  struct Misbehaviour {
    std::string part;  // of names of kernels; empty: none does
    Fault how = Fault::kAtLaunch;
    int result = 0;
    int64_t times = 0;
  } misbehaviour;
  int sticky[8] = {};                            // by device: a trap stays
  bool is_endless[8] = {};                       // by device: a kernel runs for ever
  std::set<unsigned long long> endless_streams;  // by their ids: handles come again
};
State& state();

/// The calling thread's context.
extern thread_local cuda::ContextHandle current_context;
extern thread_local int capture_mode;
/// Captures of the calling thread's that restrict what it may call.
extern thread_local std::vector<std::weak_ptr<Capture>> strict_captures;
extern thread_local bool in_host_function;

enum class Needs { kNothing, kInit, kContext };
/// Begins every function: counts the call, and returns 0, or the result that the function has to return at once.
int enter(const char* function, Needs needs = Needs::kContext);

/// Lets the kernel of that name go wrong, if it is to: what its launch returns, and `trap` or `never_end` as its work.
struct Launched {
  int result = 0;
  Work work;
};
Launched misbehave(const std::string& kernel);

/// The allocation that holds [pointer, pointer + bytes); null if none does.
const Allocation* find_allocation(const void* pointer, size_t bytes = 1);

/// First in a function that waits for work of the current device, of the stream of that id or (0) of all streams: ends
/// the process where it would not return.
void wait_for(const char* function, unsigned long long stream = 0);
/// Adds work that never ends.
void never_end();

/// Runs `work` on a stream, or records it if that is being captured.
int submit(cuda::StreamHandle stream, Work work, std::shared_ptr<cuda::FakeLaunch> launch = nullptr,
           std::shared_ptr<cuda::MemsetNodeParams> memset = nullptr);
/// A launch with the arguments' values of now, and the work that it is; or the driver's refusal.
int make_launch(const cuda::LaunchConfig& config, cuda::FunctionHandle function, void** arguments,
                std::shared_ptr<cuda::FakeLaunch>& launch, Work& work);
/// What one of Kiln's kernels that set conditions does with its arguments of now; null for any other kernel.
Work conditional_kernel(const std::string& name, void** arguments);
/// The work of a graph's nodes, each behind those that it waits for.
std::vector<Work> work_in_order(cuda::GraphHandle graph);
/// Whether KILN_FAKE_CUDA is "strict": device memory begins as zeros, so that the conditions of loops end them though
/// no kernel computes, and kernels are not given addresses of the host.
bool is_strict();
/// Ends the process where an argument holds the address of memory that the process may write and the driver did not
/// give; notes the memory that it gave. Of a cubin's kernels, which tell their parameters.
void refuse_host_addresses(cuda::FakeLaunch& launch, void** arguments);
/// Notes the memory at an address, if it is the driver's: the launch uses it.
void note_memory(cuda::FakeLaunch& launch, uint64_t address);
/// Ends the process where memory of the launch was freed since it was noted. Other memory may have its address by now:
/// a program's output often does, which is right.
void refuse_freed_memory(const cuda::FakeLaunch& launch);
/// Whether an image, or a text "FAKE name name ...", has the kernel.
bool has_kernel(const std::string& image, std::string_view name);
/// The kernel of a module; null if it has none of that name.
cuda::FunctionHandle find_function(cuda::CudaModuleObject& module, const std::string& name);
/// The capture of a stream; null while it is not being captured.
std::shared_ptr<Capture>& capture_of(cuda::StreamHandle stream);
bool is_stream(cuda::StreamHandle stream);

}  // namespace kiln::fake_cuda
