// Variables of devices that the .cu files of a program registered: their addresses, and copies to and from them.
#include "call.h"
#include "code.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

/// The address of a variable on the current device; `size_bytes` is set wherever the variable is known.
cudaError_t resolve(const void* symbol, std::byte*& address, size_t& size_bytes) {
  const Variable* variable = find_variable(symbol);
  if (!variable) return remember(cudaErrorInvalidSymbol);
  size_bytes = variable->size_bytes;
  const auto on_gpu = [&](const Driver& gpu) {
    kiln::cuda::DevicePointer found = 0;
    const int failed = load_variable(gpu, *variable, found);
    address = reinterpret_cast<std::byte*>(found);
    return failed;
  };
  return call(on_gpu, [](const KilnPrivateEntry&) { return cudaErrorNoDevice; });
}

/// Calls `copy(address)` where `count` bytes from `offset` on lie in the variable.
template <class F>
cudaError_t at_symbol(const void* symbol, size_t count, size_t offset, F&& copy) {
  std::byte* address = nullptr;
  size_t size = 0;
  if (const cudaError_t failed = resolve(symbol, address, size); failed != cudaSuccess) return failed;
  if (offset > size || count > size - offset) return remember(cudaErrorInvalidValue);
  return copy(address + offset);
}

bool is_to(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool is_from(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

using CopyAndWait = cudaError_t (*)(void*, const void*, size_t, cudaMemcpyKind);
using CopyInOrder = cudaError_t (*)(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);

cudaError_t copy_to(const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind,
                    CopyAndWait copy) {
  if (!is_to(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return at_symbol(symbol, count, offset, [&](void* address) { return copy(address, src, count, kind); });
}
cudaError_t copy_from(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                      CopyAndWait copy) {
  if (!is_from(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return at_symbol(symbol, count, offset, [&](void* address) { return copy(dst, address, count, kind); });
}
cudaError_t queue_to(const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind,
                     cudaStream_t stream, CopyInOrder copy) {
  if (!is_to(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return at_symbol(symbol, count, offset, [&](void* address) { return copy(address, src, count, kind, stream); });
}
cudaError_t queue_from(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                       cudaStream_t stream, CopyInOrder copy) {
  if (!is_from(kind)) return remember(cudaErrorInvalidMemcpyDirection);
  return at_symbol(symbol, count, offset, [&](void* address) { return copy(dst, address, count, kind, stream); });
}

}  // namespace

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  if (!address) return remember(cudaErrorInvalidValue);
  std::byte* found = nullptr;
  size_t size = 0;
  const cudaError_t result = resolve(symbol, found, size);
  *address = found;
  return result;
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  if (!size) return remember(cudaErrorInvalidValue);
  std::byte* found = nullptr;
  return resolve(symbol, found, *size);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind) {
  return copy_to(symbol, src, count, offset, kind, cudaMemcpy);
}
cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind) {
  return copy_to(symbol, src, count, offset, kind, cudaMemcpy_ptds);
}
cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return copy_from(dst, symbol, count, offset, kind, cudaMemcpy);
}
cudaError_t cudaMemcpyFromSymbol_ptds(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return copy_from(dst, symbol, count, offset, kind, cudaMemcpy_ptds);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return queue_to(symbol, src, count, offset, kind, stream, cudaMemcpyAsync);
}
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* src, size_t count, size_t offset,
                                         cudaMemcpyKind kind, cudaStream_t stream) {
  return queue_to(symbol, src, count, offset, kind, stream, cudaMemcpyAsync_ptsz);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return queue_from(dst, symbol, count, offset, kind, stream, cudaMemcpyAsync);
}
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* dst, const void* symbol, size_t count, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return queue_from(dst, symbol, count, offset, kind, stream, cudaMemcpyAsync_ptsz);
}
