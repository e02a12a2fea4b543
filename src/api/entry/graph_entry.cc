#include "api/entry/status.h"
#include "api/entry/stream_entry.h"
#include "api/run/handles.h"
#include "api/run/stream_table.h"

namespace kiln::api {
namespace {

Handles<const cpu::HostGraph>& handles() {
  static auto& all = *new Handles<const cpu::HostGraph>(uintptr_t{1} << 60, "graph");
  return all;
}

/// Calls `use(graph)` with the graph of a handle.
template <class F>
KilnStatus with_graph(void* handle, F use) noexcept {
  return entry_guard([&]() -> KilnStatus {
    const auto graph = handles().find(handle);
    if (!graph) return failed(kKilnBadHandle, handles().unknown(handle));
    return use(graph);
  });
}

KilnStatus create(void** graph) {
  return entry_guard([&]() -> Status {
    TRY(require(graph, "the address of the new graph is null"));
    *graph = handles().add(std::make_shared<const cpu::HostGraph>(std::vector<cpu::HostItem>{},
                                                                  std::vector<std::weak_ptr<cpu::HostQueue>>{}));
    return {};
  });
}

KilnStatus destroy(void* graph) {
  return entry_guard([&]() -> KilnStatus {
    return handles().take(graph) ? kKilnOk : failed(kKilnBadHandle, handles().unknown(graph));
  });
}

KilnStatus copy(void* graph, void** copy) {
  return with_graph(graph, [&](const auto& g) -> KilnStatus {
    if (!copy) return failed(kKilnBadValue, "the address of the copy is null");
    *copy = handles().add(g);  // graphs never change
    return kKilnOk;
  });
}

KilnStatus num_nodes(void* graph, size_t* count) {
  return with_graph(graph, [&](const auto& g) -> KilnStatus {
    if (!count) return failed(kKilnBadValue, "the address of the number is null");
    *count = g->num_nodes();
    return kKilnOk;
  });
}

KilnStatus launch(void* graph, void* stream) {
  return with_graph(graph, [&](const std::shared_ptr<const cpu::HostGraph>& g) {
    return with_stream_for_work(stream, [&](cpu::HostStream& s) { return queued(s.launch(g)); });
  });
}

}  // namespace

KilnGraphEntry graph_entry() { return {destroy, copy, num_nodes, launch, create}; }

KilnStatus begin_capture(void* stream) {
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number == kKilnDefaultStream || number == kKilnLegacyStream)
    return failed(kKilnUnsupported, "the legacy default stream cannot be captured; use a stream of your own");
  return with_stream(stream, [](cpu::HostStream& s) { return queued(s.begin_capture()); });
}

KilnStatus end_capture(void* stream, void** graph) {
  return with_stream(stream, [&](cpu::HostStream& s) -> KilnStatus {
    if (!graph) return failed(kKilnBadValue, "the address of the new graph is null");
    *graph = nullptr;
    if (!s.capture()) return failed(kKilnNotCapturing, "the stream is not being captured");
    auto ended = s.end_capture();
    if (!ended) return failed(ended.error());
    *graph = handles().add(*std::move(ended));
    return kKilnOk;
  });
}

KilnStatus capture_state(void* stream, KilnCaptureState* state) {
  return with_stream(stream, [&](cpu::HostStream& s) -> KilnStatus {
    if (!state) return failed(kKilnBadValue, "the address of the state is null");
    const auto capture = s.capture();
    *state = !capture ? kKilnCaptureNone : capture->invalidated() ? kKilnCaptureInvalidated : kKilnCaptureActive;
    return kKilnOk;
  });
}

}  // namespace kiln::api
