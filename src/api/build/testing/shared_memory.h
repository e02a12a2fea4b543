/// Memory that both the test and the device of its engines reach.
#pragma once

#include <cstddef>
#include <vector>

namespace kiln::api::testing {

/// On a GPU it is managed memory, which the host may touch while nothing runs.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// At least so many bytes, where they were if there is room; what stood there stays only then.
  std::byte* reserve(size_t bytes);
  std::byte* data() const { return managed_ ? managed_ : const_cast<std::byte*>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
  std::byte* managed_ = nullptr;
  size_t size_ = 0;
};

/// Whether engines run on a GPU.
bool is_on_gpu();

}  // namespace kiln::api::testing
