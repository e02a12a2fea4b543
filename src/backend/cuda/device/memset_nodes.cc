#include "backend/cuda/device/memset_nodes.h"

#include <algorithm>

#include "backend/cuda/device/shared_library.h"

namespace kiln::cuda {
namespace {

using Nodes = std::vector<GraphNodeHandle>;

/// The nodes that `get` gives when it is asked for their number, then for them.
template <class Of>
std::optional<Nodes> nodes_of(Of of, int (*get)(Of, GraphNodeHandle*, size_t*)) {
  size_t count = 0;
  if (get(of, nullptr, &count) != 0) return {};
  Nodes nodes(count);
  if (count > 0 && get(of, nodes.data(), &count) != 0) return {};
  return nodes;
}

/// A kernel that does what a memset node does: it fills rows of units with one word. It is PTX, which the driver
/// assembles, because a machine that runs plans has no compiler.
constexpr char kMemset[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry memset_node(.param .u64 to, .param .u64 pitch, .param .u64 word, .param .u64 unit_bytes,
                            .param .u64 width, .param .u64 height)
.maxntid 256, 1, 1
{
  .reg .pred %done, %by_16, %by_4, %by_2, %by_1;
  .reg .b32 %word, %index, %count, %threads;
  .reg .b64 %to, %pitch, %unit, %width, %height, %row, %rows, %first, %step, %i, %at, %wide, %bytes;
  ld.param.u64 %to, [to];
  ld.param.u64 %pitch, [pitch];
  ld.param.u32 %word, [word];
  ld.param.u64 %unit, [unit_bytes];
  ld.param.u64 %width, [width];
  ld.param.u64 %height, [height];
  setp.eq.u64 %by_16, %unit, 16;
  setp.eq.u64 %by_4, %unit, 4;
  setp.eq.u64 %by_2, %unit, 2;
  setp.eq.u64 %by_1, %unit, 1;
  mov.u32 %index, %ctaid.x;
  mov.u32 %count, %nctaid.x;
  mov.u32 %threads, %ntid.x;
  mul.wide.u32 %first, %index, %threads;
  mul.wide.u32 %step, %count, %threads;
  mov.u32 %index, %tid.x;
  cvt.u64.u32 %wide, %index;
  add.u64 %first, %first, %wide;
  mul.lo.u64 %bytes, %step, %unit;
  mov.u32 %index, %ctaid.y;
  mov.u32 %count, %nctaid.y;
  cvt.u64.u32 %row, %index;
  cvt.u64.u32 %rows, %count;
next_row:
  setp.ge.u64 %done, %row, %height;
  @%done ret;
  mad.lo.u64 %at, %row, %pitch, %to;
  mad.lo.u64 %at, %first, %unit, %at;
  mov.u64 %i, %first;
next_unit:
  setp.ge.u64 %done, %i, %width;
  @%done bra end_of_row;
  @%by_16 st.global.v4.u32 [%at], {%word, %word, %word, %word};
  @%by_4 st.global.u32 [%at], %word;
  @%by_2 st.global.u16 [%at], %word;
  @%by_1 st.global.u8 [%at], %word;
  add.u64 %i, %i, %step;
  add.u64 %at, %at, %bytes;
  bra next_unit;
end_of_row:
  add.u64 %row, %row, %rows;
  bra next_row;
}
)";

/// The loaded kernel. It stays loaded, because one memset node is rarely the only one.
struct MemsetKernel {
  std::shared_ptr<const Module> module;
  Function function;

  static Result<std::shared_ptr<MemsetKernel>> create(CudaDevice& device) {
    auto module = TRY(device.load(std::as_bytes(std::span(kMemset))));
    const Function function = TRY(module->function("memset_node"));
    return std::make_shared<MemsetKernel>(std::move(module), function);
  }
};

/// Adds the kernel between `before` and `behind`. Returns false if it could not be added.
bool add_kernel(CudaDevice& device, const GraphCalls& calls, GraphHandle graph, MemsetLaunch launch,
                const Nodes& before, const Nodes& behind) {
  const auto kernel = device.companion<MemsetKernel>();
  if (!kernel) return false;
  void* arguments[] = {&launch.to, &launch.pitch, &launch.word, &launch.unit_bytes, &launch.width, &launch.height};
  KernelNodeParams params{};
  params.function = kernel->get().function.handle();
  std::ranges::copy(launch.grid, params.grid);
  params.block[0] = MemsetLaunch::kThreads, params.block[1] = params.block[2] = 1;
  params.arguments = arguments;
  GraphNodeHandle added = nullptr;
  if (calls.add_kernel_node(&added, graph, before.data(), before.size(), &params) != 0) return false;
  const Nodes from(behind.size(), added);
  if (behind.empty() || calls.add_dependencies(graph, from.data(), behind.data(), behind.size()) == 0) return true;
  calls.destroy_node(added);
  return false;
}

void replace(CudaDevice& device, const GraphCalls& calls, GraphHandle graph, GraphNodeHandle node) {
  MemsetNodeParams params{};
  if (calls.memset_node_get_params(node, &params) != 0) return;
  const auto launch = memset_launch(params);
  const auto before = nodes_of(node, calls.node_get_dependencies), behind = nodes_of(node, calls.node_get_dependents);
  if (!launch || !before || !behind || !add_kernel(device, calls, graph, *launch, *before, *behind)) return;
  calls.destroy_node(node);  // where that fails both write the same
}

}  // namespace

Result<std::shared_ptr<GraphCalls>> GraphCalls::create(CudaDevice& device) {
  const SharedLibrary library = TRY(SharedLibrary::open({&device.driver().path, 1}));
  auto calls = std::make_shared<GraphCalls>();
  TRY(library.bind(calls->node_get_type, "cuGraphNodeGetType"));
  TRY(library.bind(calls->memset_node_get_params, "cuGraphMemsetNodeGetParams"));
  TRY(library.bind(calls->node_get_dependencies, "cuGraphNodeGetDependencies"));
  TRY(library.bind(calls->node_get_dependents, "cuGraphNodeGetDependentNodes"));
  TRY(library.bind(calls->add_kernel_node, "cuGraphAddKernelNode_v2"));
  TRY(library.bind(calls->add_dependencies, "cuGraphAddDependencies"));
  TRY(library.bind(calls->destroy_node, "cuGraphDestroyNode"));
  return calls;
}

std::optional<MemsetLaunch> memset_launch(const MemsetNodeParams& node) {
  if (node.width == 0 || node.height == 0) return {};
  MemsetLaunch launch{.to = node.to, .pitch = node.pitch, .height = node.height};
  switch (node.element_bytes) {
    case 1: launch.word = (node.value & 0xff) * 0x01010101u; break;
    case 2: launch.word = (node.value & 0xffff) * 0x00010001u; break;
    case 4: launch.word = node.value; break;
    default: return {};
  }
  uint64_t row_bytes = uint64_t{node.width} * node.element_bytes;
  if (node.height == 1 || node.pitch == row_bytes) {  // one long row
    row_bytes *= node.height;
    launch.pitch = 0, launch.height = 1;
  }
  constexpr uint64_t kUnits[] = {16, 4, 2, 1};
  const uint64_t places = launch.to | launch.pitch | row_bytes;
  launch.unit_bytes = *std::ranges::find_if(kUnits, [&](uint64_t unit) { return places % unit == 0; });
  if (launch.unit_bytes < node.element_bytes) return {};
  launch.width = row_bytes / launch.unit_bytes;
  constexpr uint64_t kMostBlocks = 1024, kMostRows = 128;  // more rows and units than that have turns
  launch.grid[0] = static_cast<unsigned>(
      std::min((launch.width + MemsetLaunch::kThreads - 1) / MemsetLaunch::kThreads, kMostBlocks));
  launch.grid[1] = static_cast<unsigned>(std::min(launch.height, kMostRows)), launch.grid[2] = 1;
  return launch;
}

void replace_memset_nodes(CudaDevice& device, GraphHandle graph) {
  const auto all = nodes_of(graph, device.driver().graph_get_nodes);
  const auto calls = device.companion<GraphCalls>();
  if (!all || !calls) return;
  for (const GraphNodeHandle node : *all) {
    int type = kKernelNode;
    if (calls->get().node_get_type(node, &type) == 0 && type == kMemsetNode) replace(device, *calls, graph, node);
  }
}

}  // namespace kiln::cuda
