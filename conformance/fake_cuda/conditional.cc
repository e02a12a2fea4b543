// Conditional nodes, and the kernels of Kiln that set their conditions: what Kiln's assembler text says, in C++.
#include "backend/cuda/device/conditional_nodes.h"

#include <cstring>
#include <deque>

#include "state.h"

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::GraphHandle;
using kiln::cuda::GraphNodeHandle;
using kiln::cuda::StreamHandle;

namespace {

/// Conditions, which stay: a handle is the address of one.
unsigned* make_condition(unsigned value) {
  static auto& all = *new std::deque<unsigned>;
  const std::lock_guard lock(state().mutex);
  return &all.emplace_back(value);
}

template <class T>
T& at(uint64_t address) {
  return *reinterpret_cast<T*>(address);
}

void set(uint64_t handle, bool value) {
  if (handle) at<unsigned>(handle) = value;
}

bool is_true(uint64_t flag) { return flag == 0 || at<uint8_t>(flag) != 0; }

void begin_loop(const cuda::BeginLoop& a) {
  int64_t* const turns = &at<int64_t>(a.turns);
  int64_t count = a.most;
  if (a.asked) {
    const int64_t asked = a.asked_bytes == 4 ? at<int32_t>(a.asked) : at<int64_t>(a.asked);
    count = std::min(count, std::max<int64_t>(asked, 0));
  }
  turns[0] = 0;
  turns[1] = is_true(a.starts) ? count : 0;
  if (a.sets) set(a.handle, turns[1] > 0);
}

void turn_loop(const cuda::TurnLoop& a) {
  int64_t* const turns = &at<int64_t>(a.turns);
  const bool is_over = turns[0] >= turns[1];
  for (uint32_t c = 0; c < a.num_still + a.num_moving && !is_over; ++c) {
    const cuda::TurnLoop::Copy& copy = a.copies[c];
    const auto moved = [&](uint64_t base, int64_t step) { return base + static_cast<uint64_t>(turns[0] * step); };
    std::memcpy(&at<std::byte>(moved(copy.to, copy.to_step)), &at<std::byte>(moved(copy.from, copy.from_step)),
                copy.units * copy.unit_bytes);
  }
  if (a.moves && !is_over) ++turns[0];
  if (!is_true(a.goes_on) || !is_true(a.tested)) turns[1] = turns[0];
  set(a.handle, turns[0] < turns[1]);
}

void choose_branch(const cuda::ChooseBranch& a) {
  set(a.if_true, is_true(a.condition));
  set(a.if_false, !is_true(a.condition));
}

template <class Arguments>
Work work_on(void (*kernel)(const Arguments&), void** arguments) {
  return [kernel, copy = *static_cast<const Arguments*>(arguments[0])] { return kernel(copy), 0; };
}

/// Runs a graph as it is now.
int run(GraphHandle graph) {
  for (const Work& work : work_in_order(graph))
    if (const int result = work()) return result;
  return 0;
}

}  // namespace

Work kiln::fake_cuda::conditional_kernel(const std::string& name, void** arguments) {
  if (name == "begin_loop") return work_on(&begin_loop, arguments);
  if (name == "turn_loop") return work_on(&turn_loop, arguments);
  if (name == "choose_branch") return work_on(&choose_branch, arguments);
  return nullptr;
}

extern "C" {

int cuGraphConditionalHandleCreate(uint64_t* handle, GraphHandle, cuda::ContextHandle, unsigned value, unsigned) {
  if (const int early = enter("cuGraphConditionalHandleCreate")) return early;
  *handle = reinterpret_cast<uint64_t>(make_condition(value));
  return 0;
}
int cuGraphAddNode(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies, size_t count,
                   cuda::ConditionalNodeParams* params) {
  if (const int early = enter("cuGraphAddNode")) return early;
  if (params->type != cuda::ConditionalNodeParams().type) return cuda::kNotSupported;
  auto& conditional = params->conditional;
  const bool repeats = conditional.type == cuda::kConditionalWhile;
  if (conditional.size < 1 || conditional.size > (repeats ? 1u : 2u)) return cuda::kInvalidValue;
  auto bodies = std::make_shared<std::vector<cuda::CudaGraphObject>>(conditional.size);
  auto handles = std::make_shared<std::vector<GraphHandle>>();
  for (cuda::CudaGraphObject& body : *bodies) handles->push_back(&body);
  conditional.graphs = handles->data();
  const unsigned* const condition = &at<unsigned>(conditional.handle);
  const Work work = [=] {
    if (repeats) {
      while (*condition)
        if (const int result = run(handles->front())) return result;
      return 0;
    }
    if (*condition) return run(handles->front());
    return bodies->size() > 1 ? run(handles->back()) : 0;
  };
  *node = &graph->nodes.emplace_back(
      cuda::CudaGraphNodeObject{.graph = graph, .work = work, .dependencies = {dependencies, dependencies + count}});
  return 0;
}
int cuStreamBeginCaptureToGraph(StreamHandle stream, GraphHandle graph, const GraphNodeHandle*, const void*,
                                size_t count, int) {
  if (const int early = enter("cuStreamBeginCaptureToGraph")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  auto& capture = capture_of(stream);
  if (capture || count != 0) return cuda::kInvalidValue;
  capture = std::make_shared<Capture>();
  capture->graph = graph;
  capture->origin = stream;
  return 0;
}
int cuStreamUpdateCaptureDependencies(StreamHandle stream, GraphNodeHandle* dependencies, size_t count,
                                      unsigned flags) {
  if (const int early = enter("cuStreamUpdateCaptureDependencies")) return early;
  if (!is_stream(stream) || !capture_of(stream)) return cuda::kInvalidValue;
  if (count != 1 || flags != cuda::kSetDependencies) return cuda::kNotSupported;
  capture_of(stream)->latest = dependencies[0];
  return 0;
}

}  // extern "C"
