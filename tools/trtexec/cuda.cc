#include "cuda.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "log.h"

namespace kiln::cli::trtexec {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char byte[4];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += str(i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", static_cast<const char*>(byte));
  }
  return text;
}

cudaDeviceProp properties(int device) {
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
  return found;
}

}  // namespace

void check(cudaError_t status, const char* call) {
  require(status == cudaSuccess, call, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
}

// Non-blocking: nothing of ours runs on the default stream, and waiting for it would be measured.
Stream::Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }

Event::Event(Waiting waiting) {
  const unsigned flags = waiting == Waiting::kSpin ? cudaEventDefault : cudaEventBlockingSync;
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

double Event::ms_since(const Event& earlier) const {
  float ms = 0;
  check(cudaEventElapsedTime(&ms, earlier.event_, event_), "cudaEventElapsedTime");
  return ms;
}

Graph::~Graph() {
  if (exec_) cudaGraphExecDestroy(exec_);
}

// Thread-local: what other threads do meanwhile, with streams of their own, is none of this capture's.
void Graph::begin(cudaStream_t stream) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

std::string Graph::end(cudaStream_t stream, bool queued) {
  cudaGraph_t graph = nullptr;
  cudaError_t status = cudaStreamEndCapture(stream, &graph);
  const char* call = "cudaStreamEndCapture";
  if (queued && status == cudaSuccess) {
    status = cudaGraphInstantiateWithFlags(&exec_, graph, 0);
    call = "cudaGraphInstantiateWithFlags";
  }
  if (graph) cudaGraphDestroy(graph);
  if (status != cudaSuccess) exec_ = nullptr;
  cudaGetLastError();  // it was told here
  if (status != cudaSuccess) return str(call, ": ", cudaGetErrorString(status));
  return queued ? "" : "the query failed: the message above says why";
}

Memory::Memory(Place place, int64_t size_bytes) : size_bytes_(size_bytes), place_(place) {
  const auto size = static_cast<size_t>(std::max<int64_t>(size_bytes, 1));
  const auto allocate = [&] {
    if (place == Place::kManaged) return cudaMallocManaged(&data_, size, cudaMemAttachGlobal);
    return place == Place::kHost ? cudaMallocHost(&data_, size) : cudaMalloc(&data_, size);
  };
  constexpr std::string_view kNames[] = {"host", "device", "managed"};
  const cudaError_t status = allocate();
  require(status == cudaSuccess, "no ", size_bytes, " bytes of ", kNames[static_cast<int>(place)],
          " memory: ", cudaGetErrorString(status));
}

Memory::~Memory() {
  if (data_) place_ == Place::kHost ? cudaFreeHost(data_) : cudaFree(data_);
}

Memory::Memory(Memory&& other) noexcept { *this = std::move(other); }

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(place_, other.place_);
  return *this;
}

void select_device(int device, Log& log) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  log.info("=== Device Information ===");
  log.info("Available Devices: ");
  for (int i = 0; i < count; ++i) {
    const cudaDeviceProp found = properties(i);
    log.info("  Device ", i, ": \"", static_cast<const char*>(found.name), "\" UUID: ", uuid_text(found.uuid));
  }
  require(device < count, "--device: there is no device ", device, ", only ", count, " counted from 0");
  check(cudaSetDevice(device), "cudaSetDevice");
  const cudaDeviceProp found = properties(device);
  log.info("Selected Device: ", static_cast<const char*>(found.name));
  log.info("Selected Device ID: ", device);
  log.info("Selected Device UUID: ", uuid_text(found.uuid));
  log.info("Compute Capability: ", found.major, ".", found.minor);
  log.info("SMs: ", found.multiProcessorCount);
  log.info("Device Global Memory: ", found.totalGlobalMem >> 20, " MiB");
  log.info("Shared Memory per SM: ", found.sharedMemPerMultiprocessor >> 10, " KiB");
  log.info("Memory Bus Width: ", found.memoryBusWidth, " bits (ECC ", found.ECCEnabled ? "enabled" : "disabled", ")");
}

bool copies_beside_computing() {
  int device = 0, capability = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  return capability > 0;
}

}  // namespace kiln::cli::trtexec
