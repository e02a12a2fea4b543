/// A dense row-major tensor in host memory, shared and immutable: constants, weights, folded values.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"

namespace kiln {

class HostTensor {
 public:
  HostTensor() = default;
  /// Borrows `bytes`, kept alive by `owner`. The caller has checked that they are size_bytes(dtype, volume).
  HostTensor(DType dtype, Extents extents, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : dtype_(dtype), extents_(std::move(extents)), bytes_(bytes), owner_(std::move(owner)) {}

  /// A tensor to be filled through `data` before it is shared; zeroed. Fails on overflow or lack of memory.
  struct Fresh;
  static Result<Fresh> make(DType dtype, Extents extents);
  /// Copies of numbers, converted to `dtype`; values.size() is the volume.
  static HostTensor of(DType dtype, Extents extents, std::span<const double> values);
  static HostTensor of_ints(DType dtype, Extents extents, std::span<const int64_t> values);
  static HostTensor scalar(DType dtype, double value) { return of(dtype, {}, std::span(&value, 1)); }

  DType dtype() const { return dtype_; }
  const Extents& extents() const { return extents_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  int64_t volume() const { return kiln::volume(extents_); }
  std::span<const std::byte> bytes() const { return bytes_; }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }
  /// The same elements under other extents of the same volume.
  HostTensor reshaped(Extents extents) const;
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// Same type, extents and bytes.
  bool operator==(const HostTensor& other) const;

 private:
  DType dtype_ = DType::kF32;
  Extents extents_{0};
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};
struct HostTensor::Fresh {
  HostTensor tensor;
  std::span<std::byte> data;
};
Hash128 hash128(const HostTensor& tensor);

}  // namespace kiln
