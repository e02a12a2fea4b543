/// The driver's calls that are measured beside Kiln's, found at run time. Handles are the driver's.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace kiln::bench {

using Handle = void*;  // of a stream, a graph, a node, ...

struct KernelParams {  // CUDA_KERNEL_NODE_PARAMS_v2
  Handle function;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  Handle kernel, context;
};

/// A call that this driver has, or has not: then it says so to whoever calls it. Throws where the driver returns an
/// error.
template <class... Args>
class Call {
 public:
  Call(void* library, const char* name)
      : name_(name), call_(reinterpret_cast<int (*)(Args...)>(dlsym(library, name))) {}
  void operator()(Args... args) const {
    constexpr int kNotFound = 500;
    const int result = call_ ? call_(args...) : kNotFound;
    if (result != 0) throw std::runtime_error(std::string(name_) + " returned " + std::to_string(result));
  }
  bool is_there() const { return call_ != nullptr; }

 private:
  const char* name_;
  int (*call_)(Args...);
};

struct Driver {
  explicit Driver(void* library);
  /// Loads the library that KILN_CUDA_DRIVER names, or libcuda.so.1.
  static Driver load();

  Call<int*, int> device_get;
  Call<Handle*, int> primary_context_retain;
  Call<Handle> context_set_current;
  Call<Handle, int> begin_capture;
  Call<Handle, Handle*> end_capture;
  Call<Handle*, unsigned> event_create;
  Call<Handle, Handle, unsigned> event_record;
  Call<Handle, Handle> graph_launch;
  Call<Handle> synchronize;
  Call<Handle*, Handle, unsigned long long> instantiate;
  Call<Handle, Handle*, size_t*> get_nodes;
  Call<Handle, int*> node_type;
  Call<Handle, KernelParams*> kernel_params;
  Call<int*, int, Handle> function_attribute;
  Call<const char**, Handle> function_name;
  Call<Handle*, Handle> function_of_kernel;
  Call<Handle, size_t, size_t*, size_t*> function_parameter;
  Call<Handle*, Handle> graph_clone;
  Call<Handle*, Handle, Handle> find_in_clone;
  Call<Handle> node_destroy, graph_destroy, exec_destroy;
  Call<Handle*, unsigned> graph_create;
  Call<Handle*, Handle, const Handle*, size_t, const KernelParams*> add_kernel;
  Call<Handle, Handle> copy_attributes;
};

/// What a node of a graph is.
struct NodeFacts {
  bool is_kernel = false;
  std::string type;            ///< in words
  std::string text;            ///< of a kernel: name, grid, block and what else may matter
  size_t parameter_bytes = 0;  ///< 0: the driver does not tell
  int local_bytes = 0;         ///< a thread's
};

std::vector<Handle> nodes_of(const Driver& driver, Handle graph);
NodeFacts facts_of(const Driver& driver, Handle node);
/// An executable graph of those nodes alone, in their order and with their edges.
Handle part_of(const Driver& driver, Handle graph, size_t first, size_t count);
/// An executable graph of the same kernels, each behind the whole one in front, without programmatic launches. Null
/// where there are other nodes, without which kernels may wait for what nobody writes.
Handle line_of(const Driver& driver, Handle graph);

}  // namespace kiln::bench
