/// Memory that both a test and the device of its engines reach.
#pragma once

#include <NvInferRuntime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace kiln::api::testing {

/// Whether engines run on a GPU.
bool is_on_gpu();
/// Copies memory of that device behind what the stream was given before; on the CPU at once.
Status copy_on(void* stream, void* to, const void* from, size_t bytes);

/// On a GPU it is managed memory, which the host may touch while nothing runs. Throws std::runtime_error with the
/// driver's words where there is none.
void* allocate_shared(size_t bytes);
void free_shared(void* memory) noexcept;

template <class T>
struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <class U>
  SharedAllocator(const SharedAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(allocate_shared(count * sizeof(T))); }
  void deallocate(T* memory, size_t) noexcept { free_shared(memory); }
  bool operator==(const SharedAllocator&) const { return true; }
};

/// The elements of a tensor that an engine reads or writes where they are.
template <class T>
using Shared = std::vector<T, SharedAllocator<T>>;

template <class T>
bool operator==(const Shared<T>& shared, const std::vector<T>& other) {
  return std::ranges::equal(shared, other);
}

/// Gives an output its memory when a run knows its size, or refuses to.
class OutputMemory final : public nvinfer1::IOutputAllocator {
 public:
  void* reallocateOutputAsync(char const* name, void* current, uint64_t size, uint64_t alignment,
                              cudaStream_t stream) override;
  void notifyShape(char const* name, nvinfer1::Dims const& dims) noexcept override;
  /// What the latest run wrote.
  template <class T>
  std::vector<T> elements() const {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    const T* first = reinterpret_cast<const T*>(memory.data());
    return {first, first + count};
  }

  Shared<std::byte> memory;  ///< as much as the latest run asked for
  std::vector<int64_t> shape;
  void* current = nullptr;  ///< what the latest run said of the memory that there was
  bool refuses = false;
};

}  // namespace kiln::api::testing
