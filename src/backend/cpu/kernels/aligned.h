/// Memory for packed weights and tests: aligned to a cache line, owned, zeroed on request.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/large_pages.h"

namespace kiln::cpu {

inline constexpr int64_t kCacheLine = 64;

constexpr int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }
constexpr int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

/// Floats in an owned block aligned to kCacheLine.
class AlignedFloats {
 public:
  AlignedFloats() = default;

  /// `size` zeros. Fails with kOutOfMemory only.
  static Result<AlignedFloats> zeros(int64_t size) {
    AlignedFloats result;
    const auto bytes = static_cast<size_t>(round_up(size * 4, kCacheLine));
    result.data_.reset(static_cast<float*>(allocate_in_large_pages(kCacheLine, bytes ? bytes : kCacheLine)));
    if (!result.data_) return error(Code::kOutOfMemory, "no memory for ", size, " packed floats");
    std::memset(result.data_.get(), 0, bytes);
    result.size_ = size;
    return result;
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
  int64_t size_ = 0;
};

}  // namespace kiln::cpu
