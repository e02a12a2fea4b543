#include "backend/cuda/device/conditional_nodes.h"

#include <algorithm>
#include <array>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/memset_nodes.h"
#include "backend/cuda/device/shared_library.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

// The kernels are PTX, which the driver assembles and links with its own function: a machine that runs plans has no
// compiler. Those of a GPU with programmatic launches wait for the kernel in front by themselves.
constexpr std::string_view kHead = R"(.version 7.8
.target $ARCH
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
)";

// Sets the condition %handle to %value.
constexpr std::string_view kSet = R"({
    .param .b64 handle;
    .param .b32 value;
    st.param.b64 [handle], %handle;
    st.param.b32 [value], %value;
    call.uni cudaGraphSetConditional, (handle, value);
  })";

constexpr std::string_view kBeginLoop = R"(
.visible .entry begin_loop(.param .align 8 .b8 arguments[48])
.maxntid 32, 1, 1
{
  .reg .pred %skip, %is_narrow;
  .reg .b32 %thread, %bytes, %sets, %byte, %value;
  .reg .b64 %turns, %asked, %count, %wanted, %starts, %handle, %zero;
  $WAIT
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %skip, %thread, 0;
  @%skip ret;
  ld.param.u64 %turns, [arguments];
  ld.param.u64 %asked, [arguments + 8];
  ld.param.s64 %count, [arguments + 16];
  ld.param.u64 %starts, [arguments + 24];
  ld.param.u64 %handle, [arguments + 32];
  ld.param.u32 %bytes, [arguments + 40];
  ld.param.u32 %sets, [arguments + 44];
  mov.u64 %zero, 0;
  setp.eq.u64 %skip, %asked, 0;
  @%skip bra counted;
  setp.eq.u32 %is_narrow, %bytes, 4;
  @%is_narrow ld.global.s32 %wanted, [%asked];
  @!%is_narrow ld.global.s64 %wanted, [%asked];
  max.s64 %wanted, %wanted, 0;
  min.s64 %count, %count, %wanted;
counted:
  setp.eq.u64 %skip, %starts, 0;
  @%skip bra started;
  ld.global.u8 %byte, [%starts];
  setp.eq.u32 %skip, %byte, 0;
  @%skip mov.u64 %count, %zero;
started:
  st.global.u64 [%turns], %zero;
  st.global.u64 [%turns + 8], %count;
  setp.eq.u32 %skip, %sets, 0;
  @%skip ret;
  setp.gt.s64 %skip, %count, 0;
  selp.u32 %value, 1, 0, %skip;
  $SET
  ret;
}
)";

// What is loaded does not wait for what was loaded before, as far as that can be: a turn lasts as long as its loads,
// one behind the other. Copies that stand still from iteration to iteration come first. The turn behind which no
// iteration follows makes the number of all that of those that were: turns behind it copy and count nothing.
constexpr std::string_view kTurnLoop = R"(
.visible .entry turn_loop(.param .align 8 .b8 arguments[1008])
.maxntid 512, 1, 1
{
  .reg .pred %done, %by_16, %by_4, %by_1, %runs, %moving, %has_flag, %is_first, %is_over;
  .reg .b32 %thread, %block, %threads, %copies, %still, %moves, %going, %tested, %value, %a, %b, %c, %d;
  .reg .b64 %at, %turns, %number, %count, %first, %stride, %wide, %i, %units, %unit, %to, %from, %step, %handle, %flag;
  $WAIT
  ld.param.u64 %turns, [arguments + 960];
  ld.global.s64 %number, [%turns];
  ld.global.s64 %count, [%turns + 8];
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mul.wide.u32 %first, %block, %threads;
  cvt.u64.u32 %wide, %thread;
  add.u64 %first, %first, %wide;
  setp.eq.u64 %is_first, %first, 0;
  setp.ge.s64 %is_over, %number, %count;
  mov.u32 %going, 1;
  mov.u32 %tested, 1;
  ld.param.u64 %flag, [arguments + 968];
  setp.ne.and.u64 %has_flag, %flag, 0, %is_first;
  @%has_flag ld.global.u8 %going, [%flag];
  ld.param.u64 %flag, [arguments + 976];
  setp.ne.and.u64 %has_flag, %flag, 0, %is_first;
  @%has_flag ld.global.u8 %tested, [%flag];
  mov.u32 %copies, %nctaid.x;
  mul.wide.u32 %stride, %copies, %threads;
  mov.u64 %at, arguments;
  ld.param.u32 %still, [arguments + 992];
  ld.param.u32 %copies, [arguments + 996];
  @%is_over bra copied;
next_copy:
  setp.eq.u32 %moving, %still, 0;
  ld.param.u64 %to, [%at];
  ld.param.u64 %from, [%at + 8];
  ld.param.u64 %units, [%at + 16];
  @!%moving bra placed;
  setp.eq.u32 %done, %copies, 0;
  @%done bra copied;
  sub.u32 %copies, %copies, 1;
  add.u32 %still, %still, 1;
  ld.param.s64 %step, [%at + 24];
  mad.lo.s64 %to, %number, %step, %to;
  ld.param.s64 %step, [%at + 32];
  mad.lo.s64 %from, %number, %step, %from;
placed:
  sub.u32 %still, %still, 1;
  ld.param.u64 %unit, [%at + 40];
  setp.eq.u64 %by_16, %unit, 16;
  setp.eq.u64 %by_4, %unit, 4;
  setp.eq.u64 %by_1, %unit, 1;
  mad.lo.u64 %to, %first, %unit, %to;
  mad.lo.u64 %from, %first, %unit, %from;
  mul.lo.u64 %step, %stride, %unit;
  mov.u64 %i, %first;
next_unit:
  setp.ge.u64 %done, %i, %units;
  @%done bra end_of_copy;
  @%by_16 ld.global.v4.u32 {%a, %b, %c, %d}, [%from];
  @%by_16 st.global.v4.u32 [%to], {%a, %b, %c, %d};
  @%by_4 ld.global.u32 %a, [%from];
  @%by_4 st.global.u32 [%to], %a;
  @%by_1 ld.global.u8 %a, [%from];
  @%by_1 st.global.u8 [%to], %a;
  add.u64 %to, %to, %step;
  add.u64 %from, %from, %step;
  add.u64 %i, %i, %stride;
  bra next_unit;
end_of_copy:
  add.u64 %at, %at, 48;
  bra next_copy;
copied:
  bar.sync 0;
  @!%is_first ret;
  ld.param.u32 %moves, [arguments + 1000];
  setp.eq.or.u32 %done, %moves, 0, %is_over;
  @%done bra moved;
  add.s64 %number, %number, 1;
  st.global.u64 [%turns], %number;
moved:
  setp.ne.u32 %runs, %going, 0;
  setp.ne.and.u32 %runs, %tested, 0, %runs;
  @!%runs st.global.u64 [%turns + 8], %number;
  setp.lt.and.s64 %runs, %number, %count, %runs;
  ld.param.u64 %handle, [arguments + 984];
  setp.eq.u64 %done, %handle, 0;
  @%done ret;
  selp.u32 %value, 1, 0, %runs;
  $SET
  ret;
}
)";

constexpr std::string_view kChooseBranch = R"(
.visible .entry choose_branch(.param .align 8 .b8 arguments[24])
.maxntid 32, 1, 1
{
  .reg .pred %skip, %is_true;
  .reg .b32 %thread, %byte, %value;
  .reg .b64 %condition, %handle;
  $WAIT
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %skip, %thread, 0;
  @%skip ret;
  ld.param.u64 %condition, [arguments];
  ld.global.u8 %byte, [%condition];
  setp.ne.u32 %is_true, %byte, 0;
  selp.u32 %value, 1, 0, %is_true;
  ld.param.u64 %handle, [arguments + 8];
  $SET
  ld.param.u64 %handle, [arguments + 16];
  setp.eq.u64 %skip, %handle, 0;
  @%skip ret;
  selp.u32 %value, 0, 1, %is_true;
  $SET
  ret;
}
)";
static_assert(sizeof(BeginLoop) == 48 && sizeof(TurnLoop) == 1008 && sizeof(ChooseBranch) == 24);
static_assert(offsetof(TurnLoop, turns) == 960 && offsetof(TurnLoop, moves) == 1000);

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// The loaded kernels, and the calls.
struct ConditionalKernels {
  std::shared_ptr<const Module> module;
  Function begin_loop, turn_loop, choose_branch;

  static Result<std::shared_ptr<ConditionalKernels>> create(CudaDevice& device) {
    const std::string text = conditional_kernels(device.properties().compute_major >= 9);
    auto module = TRY(device.load({reinterpret_cast<const std::byte*>(text.c_str()), text.size() + 1}));
    const Function begin = TRY(module->function("begin_loop")), turn = TRY(module->function("turn_loop"));
    const Function choose = TRY(module->function("choose_branch"));
    return std::make_shared<ConditionalKernels>(std::move(module), begin, turn, choose);
  }
};

/// The stream, which must have a queue that records.
Result<Ref<const CudaStream>> recording(const Stream& stream) {
  const auto& queue = static_cast<const CudaStream&>(stream);
  if (!queue.has_queue()) return error(Code::kUnsupported, "conditional nodes are not replaced in a recording");
  return std::cref(queue);
}

uint64_t address(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

/// Adds loops and branches behind what a stream has recorded.
class Conditionals {
 public:
  static Result<Conditionals> create(CudaDevice& device) {
    return Conditionals(device, TRY(device.companion<ConditionalCalls>()), TRY(device.companion<ConditionalKernels>()));
  }

  Status add_loop(const CudaStream& stream, const RecordedLoop& loop) const {
    const uint64_t handle = TRY(create_handle(stream));
    BeginLoop begin{.turns = address(loop.turns),
                    .asked = address(loop.asked),
                    .most = loop.most,
                    .starts = address(loop.starts),
                    .handle = handle,
                    .asked_bytes = static_cast<uint32_t>(loop.asked_bytes),
                    .sets = !loop.tested};
    TRY(launch_alone(stream, kernels_.begin_loop, &begin));
    if (loop.tested) TRY(add_test(stream, loop, nullptr, handle));
    const std::array<GraphHandle, 2> graphs = TRY(add_node(stream, kConditionalWhile, 1, handle));
    return capture(graphs[0], [&](CudaStream& body) -> Status {
      for (int i = 1; i <= loop.at_once; ++i) TRY(add_iteration(body, loop, i == loop.at_once ? handle : 0));
      return {};
    });
  }

  Status add_branch(const CudaStream& stream, const RecordedBranch& branch) const {
    const bool has_else = device_.driver().version >= kVersionOfElse;
    ChooseBranch choose{address(branch.condition), TRY(create_handle(stream)), 0};
    if (!has_else) choose.if_false = TRY(create_handle(stream));
    TRY(launch_alone(stream, kernels_.choose_branch, &choose));
    std::array<GraphHandle, 2> graphs = TRY(add_node(stream, kConditionalIf, has_else ? 2 : 1, choose.if_true));
    if (!has_else) graphs[1] = TRY(add_node(stream, kConditionalIf, 1, choose.if_false))[0];
    TRY(capture(graphs[0], [&](CudaStream& body) { return branch.if_true(branch.argument, &body); }));
    return capture(graphs[1], [&](CudaStream& body) { return branch.if_false(branch.argument, &body); });
  }

 private:
  static constexpr int kVersionOfElse = 12080;
  /// What a turn does behind its copies.
  struct Turn {
    const std::byte *goes_on = nullptr, *tested = nullptr;
    uint64_t handle = 0;
    bool moves = false;
  };
  Conditionals(CudaDevice& device, const ConditionalCalls& calls, const ConditionalKernels& kernels)
      : device_(device), calls_(calls), kernels_(kernels) {}

  Result<GraphHandle> graph_of(const CudaStream& stream, std::vector<GraphNodeHandle>* latest = nullptr) const {
    int status = kCaptureNone;
    GraphHandle graph = nullptr;
    const GraphNodeHandle* nodes = nullptr;
    size_t count = 0;
    const Driver& driver = device_.driver();
    TRY(driver.check(driver.stream_get_capture_info(stream.handle(), &status, nullptr, &graph, &nodes, &count),
                     "what a stream records"));
    if (status != kCaptureActive) return error(Code::kState, "the stream records nothing");
    if (latest) latest->assign(nodes, nodes + count);
    return graph;
  }

  Result<uint64_t> create_handle(const CudaStream& stream) const {
    const GraphHandle graph = TRY(graph_of(stream));
    uint64_t handle = 0;
    TRY(device_.driver().check(calls_.handle_create(&handle, graph, device_.context(), 0, kAssignDefault),
                               "a condition of a graph"));
    return handle;
  }

  /// The node's graphs, to be filled. What the stream gets next is behind the node.
  Result<std::array<GraphHandle, 2>> add_node(const CudaStream& stream, ConditionalType type, unsigned size,
                                              uint64_t handle) const {
    std::vector<GraphNodeHandle> latest;
    const GraphHandle graph = TRY(graph_of(stream, &latest));
    ConditionalNodeParams params;
    params.conditional = {handle, type, size, nullptr, device_.context()};
    GraphNodeHandle node = nullptr;
    const Driver& driver = device_.driver();
    TRY(driver.check(calls_.add_node(&node, graph, latest.data(), latest.size(), &params), "a conditional node"));
    TRY(driver.check(calls_.update_capture_dependencies(stream.handle(), &node, 1, kSetDependencies),
                     "what follows a conditional node"));
    stream.note_wait();  // a programmatic launch may follow kernels alone
    return std::array<GraphHandle, 2>{params.conditional.graphs[0], size > 1 ? params.conditional.graphs[1] : nullptr};
  }

  /// Fills a node's graph with what `work` launches.
  template <class Work>
  Status capture(GraphHandle graph, Work work) const {
    const std::unique_ptr<CudaStream> stream = TRY(CudaStream::create(device_));
    const Driver& driver = device_.driver();
    TRY(driver.check(calls_.begin_capture_to_graph(stream->handle(), graph, nullptr, nullptr, 0, kCaptureThreadLocal),
                     "beginning to record a body"));
    stream->note_wait();
    stream->set_recorded(true);
    Status ran = work(*stream);
    GraphHandle filled = nullptr;
    Status ended = driver.check(driver.stream_end_capture(stream->handle(), &filled), "ending to record a body");
    TRY(std::move(ran));
    TRY(std::move(ended));
    replace_memset_nodes(device_, graph);
    return {};
  }

  Status launch_alone(const CudaStream& stream, const Function& kernel, void* arguments) const {
    LaunchShape shape = flat_shape(1, 32);
    return launch(stream, kernel, shape, &arguments);
  }

  Status add_test(const CudaStream& stream, const RecordedLoop& loop, const std::byte* goes_on, uint64_t handle) const {
    TRY(add_copies(stream, loop, loop.before, {}));
    TRY(loop.test(loop.argument, const_cast<CudaStream*>(&stream)));
    return add_copies(stream, loop, {}, {.goes_on = goes_on, .tested = loop.tested, .handle = handle});
  }

  /// Adds an iteration, behind which `handle` is set unless it is 0.
  Status add_iteration(CudaStream& stream, const RecordedLoop& loop, uint64_t handle) const {
    if (!loop.tested) TRY(add_copies(stream, loop, loop.before, {}));
    TRY(loop.body(loop.argument, &stream));
    if (!loop.tested)
      return add_copies(stream, loop, loop.behind, {.goes_on = loop.goes_on, .handle = handle, .moves = true});
    TRY(add_copies(stream, loop, loop.behind, {.moves = true}));
    return add_test(stream, loop, loop.goes_on, handle);
  }

  /// Adds copies, and the turn: in one block with them where they are few.
  Status add_copies(const CudaStream& stream, const RecordedLoop& loop, std::span<const IterationCopy> copies,
                    const Turn& turn) const {
    constexpr int64_t kBytesOfFewThreads = 1 << 10, kBytesOfOneBlock = 16 << 10, kBytesOfABlock = 8 << 10,
                      kMostBlocks = 256;
    const bool turns = turn.moves || turn.handle || turn.tested;
    while (!copies.empty() || turns) {
      const auto now = copies.first(std::min(copies.size(), TurnLoop::kMostCopies));
      copies = copies.subspan(now.size());
      TurnLoop arguments = copies_of(now);
      arguments.turns = address(loop.turns);
      int64_t bytes = 0;
      for (const IterationCopy& copy : now) bytes += copy.bytes;
      const bool is_last = copies.empty() && bytes <= kBytesOfOneBlock;
      if (is_last) {
        arguments.goes_on = address(turn.goes_on), arguments.tested = address(turn.tested);
        arguments.handle = turn.handle, arguments.moves = turn.moves;
      }
      LaunchShape shape = flat_shape(1, bytes <= kBytesOfFewThreads ? TurnLoop::kFewThreads : TurnLoop::kThreads);
      if (!is_last) shape.grid[0] = grid_blocks(std::clamp<int64_t>(bytes / kBytesOfABlock, 1, kMostBlocks));
      void* const pointer = &arguments;
      TRY(launch(stream, kernels_.turn_loop, shape, const_cast<void**>(&pointer)));
      if (is_last || (copies.empty() && !turns)) break;
    }
    return {};
  }

  static TurnLoop copies_of(std::span<const IterationCopy> copies) {
    TurnLoop arguments{};
    const auto stands_still = [](const IterationCopy& copy) { return copy.to_step == 0 && copy.from_step == 0; };
    const auto add = [&](const IterationCopy& copy) {
      const uint64_t places = address(copy.to) | address(copy.from) | static_cast<uint64_t>(copy.bytes) |
                              static_cast<uint64_t>(copy.to_step) | static_cast<uint64_t>(copy.from_step);
      const uint64_t unit = places % 16 == 0 ? 16 : places % 4 == 0 ? 4 : 1;
      arguments.copies[arguments.num_still + arguments.num_moving] = {
          address(copy.to), address(copy.from), static_cast<uint64_t>(copy.bytes) / unit,
          copy.to_step,     copy.from_step,     unit};
      ++(stands_still(copy) ? arguments.num_still : arguments.num_moving);
    };
    for (const IterationCopy& copy : copies)
      if (stands_still(copy)) add(copy);
    for (const IterationCopy& copy : copies)
      if (!stands_still(copy)) add(copy);
    return arguments;
  }

  CudaDevice& device_;
  const ConditionalCalls& calls_;
  const ConditionalKernels& kernels_;
};

}  // namespace

std::string conditional_kernels(bool programmatic) {
  std::string text = str(kHead, kBeginLoop, kTurnLoop, kChooseBranch);
  replace_all(text, "$SET", kSet);
  replace_all(text, "$ARCH", programmatic ? "sm_90" : "sm_80");
  replace_all(text, "$WAIT", programmatic ? "griddepcontrol.wait;" : "");
  return text;
}

Result<std::shared_ptr<ConditionalCalls>> ConditionalCalls::create(CudaDevice& device) {
  const int version = device.driver().version;
  if (version < kOldestVersion)
    return error(Code::kUnsupported, "the driver (CUDA ", version / 1000, ".", version % 1000 / 10,
                 ") has no conditional nodes: CUDA 12.4 does");
  const SharedLibrary library = TRY(SharedLibrary::open({&device.driver().path, 1}));
  auto calls = std::make_shared<ConditionalCalls>();
  TRY(library.bind(calls->handle_create, "cuGraphConditionalHandleCreate"));
  TRY(library.bind(calls->add_node, "cuGraphAddNode"));
  TRY(library.bind(calls->begin_capture_to_graph, "cuStreamBeginCaptureToGraph"));
  TRY(library.bind(calls->update_capture_dependencies, "cuStreamUpdateCaptureDependencies"));
  return calls;
}

Status CudaDevice::record_loop(Stream& stream, const RecordedLoop& loop) {
  const CurrentContext current(*this);
  const Conditionals conditionals = TRY(Conditionals::create(*this));
  return conditionals.add_loop(TRY(recording(stream)), loop);
}

Status CudaDevice::record_branch(Stream& stream, const RecordedBranch& branch) {
  const CurrentContext current(*this);
  const Conditionals conditionals = TRY(Conditionals::create(*this));
  return conditionals.add_branch(TRY(recording(stream)), branch);
}

}  // namespace kiln::cuda
