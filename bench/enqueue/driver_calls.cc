#include "driver_calls.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace kiln::bench {
namespace {

// CUgraphNodeType
constexpr int kKernelNode = 0;
constexpr const char* kNodeTypes[] = {"kernel", "copy",  "memset",     "host function",
                                      "graph",  "empty", "event wait", "event record"};
constexpr int kStaticShared = 1, kLocal = 3, kRegisters = 4;  // CUfunction_attribute

std::string extents(const unsigned (&e)[3]) {
  return std::to_string(e[0]) + 'x' + std::to_string(e[1]) + 'x' + std::to_string(e[2]);
}

}  // namespace

Driver::Driver(void* l)
    : device_get(l, "cuDeviceGet"),
      primary_context_retain(l, "cuDevicePrimaryCtxRetain"),
      context_set_current(l, "cuCtxSetCurrent"),
      begin_capture(l, "cuStreamBeginCapture_v2"),
      end_capture(l, "cuStreamEndCapture"),
      event_create(l, "cuEventCreate"),
      event_record(l, "cuEventRecordWithFlags"),
      graph_launch(l, "cuGraphLaunch"),
      synchronize(l, "cuStreamSynchronize"),
      instantiate(l, "cuGraphInstantiateWithFlags"),
      get_nodes(l, "cuGraphGetNodes"),
      node_type(l, "cuGraphNodeGetType"),
      kernel_params(l, "cuGraphKernelNodeGetParams_v2"),
      function_attribute(l, "cuFuncGetAttribute"),
      function_name(l, "cuFuncGetName"),
      function_of_kernel(l, "cuKernelGetFunction"),
      function_parameter(l, "cuFuncGetParamInfo"),
      graph_clone(l, "cuGraphClone"),
      find_in_clone(l, "cuGraphNodeFindInClone"),
      node_destroy(l, "cuGraphDestroyNode"),
      graph_destroy(l, "cuGraphDestroy"),
      exec_destroy(l, "cuGraphExecDestroy"),
      graph_create(l, "cuGraphCreate"),
      add_kernel(l, "cuGraphAddKernelNode_v2"),
      copy_attributes(l, "cuGraphKernelNodeCopyAttributes") {}

Driver Driver::load() {
  const char* const other = std::getenv("KILN_CUDA_DRIVER");
  void* const library = dlopen(other ? other : "libcuda.so.1", RTLD_NOW);
  if (!library) throw std::runtime_error(dlerror());
  return Driver(library);
}

std::vector<Handle> nodes_of(const Driver& driver, Handle graph) {
  size_t count = 0;
  driver.get_nodes(graph, nullptr, &count);
  std::vector<Handle> nodes(count);
  driver.get_nodes(graph, nodes.data(), &count);
  return nodes;
}

NodeFacts facts_of(const Driver& driver, Handle node) {
  int type = kKernelNode;
  if (driver.node_type.is_there()) driver.node_type(node, &type);
  if (type >= static_cast<int>(std::size(kNodeTypes))) return {.type = "type " + std::to_string(type)};
  if (type != kKernelNode) return {.type = kNodeTypes[type]};
  KernelParams params{};
  driver.kernel_params(node, &params);
  if (!params.function && driver.function_of_kernel.is_there())  // libraries launch such
    driver.function_of_kernel(&params.function, params.kernel);
  if (!params.function) return {.is_kernel = true, .type = kNodeTypes[type], .text = "without a function"};
  NodeFacts facts{.is_kernel = true, .type = kNodeTypes[type]};
  const char* name = "?";
  if (driver.function_name.is_there()) driver.function_name(&name, params.function);
  int registers = 0, shared = 0;
  driver.function_attribute(&facts.local_bytes, kLocal, params.function);
  driver.function_attribute(&registers, kRegisters, params.function);
  driver.function_attribute(&shared, kStaticShared, params.function);
  try {
    for (size_t i = 0, offset = 0, size = 0; driver.function_parameter.is_there(); ++i) {
      driver.function_parameter(params.function, i, &offset, &size);
      facts.parameter_bytes = offset + size;
    }
  } catch (const std::runtime_error&) {  // behind the last
  }
  facts.text = std::string(name).substr(0, 60) + ' ' + extents(params.grid) + " of " + extents(params.block) + ", " +
               std::to_string(static_cast<unsigned>(shared) + params.shared_bytes) + " B shared, " +
               std::to_string(registers) + " registers, " + std::to_string(facts.local_bytes) + " B local, " +
               std::to_string(facts.parameter_bytes) + " B of parameters";
  return facts;
}

Handle part_of(const Driver& driver, Handle graph, size_t first, size_t count) {
  Handle clone = nullptr, exec = nullptr;
  driver.graph_clone(&clone, graph);
  const std::vector<Handle> nodes = nodes_of(driver, graph);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i >= first && i < first + count) continue;
    Handle cloned = nullptr;
    driver.find_in_clone(&cloned, nodes[i], clone);
    driver.node_destroy(cloned);
  }
  driver.instantiate(&exec, clone, 0);
  driver.graph_destroy(clone);
  return exec;
}

Handle line_of(const Driver& driver, Handle graph) {
  Handle line = nullptr, last = nullptr, exec = nullptr;
  const std::vector<Handle> nodes = nodes_of(driver, graph);
  if (!std::ranges::all_of(nodes, [&](Handle node) { return facts_of(driver, node).is_kernel; })) return nullptr;
  driver.graph_create(&line, 0);
  for (const Handle node : nodes) {
    KernelParams params{};
    driver.kernel_params(node, &params);
    Handle added = nullptr;
    driver.add_kernel(&added, line, &last, last ? 1 : 0, &params);
    driver.copy_attributes(added, node);
    last = added;
  }
  driver.instantiate(&exec, line, 0);
  driver.graph_destroy(line);
  return exec;
}

}  // namespace kiln::bench
