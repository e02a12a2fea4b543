/// Typed access to dense row-major elements through their linear index, for reference code: clear, not fast.
#pragma once

#include <cstddef>
#include <span>

#include "tensor/dtype.h"
#include "tensor/extents.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Element `index` of `data` as a number. Integers beyond 2^53 lose digits: use load_integer.
double load_number(DType dtype, const std::byte* data, int64_t index);
int64_t load_integer(DType dtype, const std::byte* data, int64_t index);  ///< floats truncate towards zero
/// Rounds to the type; integers truncate and wrap as a C cast of the int64 does; bool is value != 0.
void store_number(DType dtype, std::byte* data, int64_t index, double value);
void store_integer(DType dtype, std::byte* data, int64_t index, int64_t value);

/// Elements to read. Does not own them.
class View {
 public:
  View(DType dtype, std::span<const int64_t> extents, const std::byte* data)
      : dtype_(dtype), extents_(extents.begin(), extents.end()), data_(data) {}
  explicit View(const HostTensor& tensor) : View(tensor.dtype(), tensor.extents(), tensor.bytes().data()) {}

  DType dtype() const { return dtype_; }
  const Extents& extents() const { return extents_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  int64_t volume() const { return kiln::volume(extents_); }
  const std::byte* data() const { return data_; }
  double operator[](int64_t index) const { return load_number(dtype_, data_, index); }
  int64_t integer(int64_t index) const { return load_integer(dtype_, data_, index); }
  std::vector<int64_t> integers() const;
  std::vector<double> numbers() const;  ///< all elements: what a reference reads more than once

 private:
  DType dtype_;
  Extents extents_;
  const std::byte* data_;
};

/// Elements to write. Does not own them.
class MutableView {
 public:
  MutableView(DType dtype, std::span<const int64_t> extents, std::byte* data)
      : dtype_(dtype), extents_(extents.begin(), extents.end()), data_(data) {}

  DType dtype() const { return dtype_; }
  const Extents& extents() const { return extents_; }
  int rank() const { return static_cast<int>(extents_.size()); }
  int64_t volume() const { return kiln::volume(extents_); }
  std::byte* data() const { return data_; }
  void set(int64_t index, double value) const { store_number(dtype_, data_, index, value); }
  void set_integer(int64_t index, int64_t value) const { store_integer(dtype_, data_, index, value); }
  /// dst[to] = src[from], no rounding; same dtype.
  void copy_element(int64_t to, const View& src, int64_t from) const;

 private:
  DType dtype_;
  Extents extents_;
  std::byte* data_;
};

}  // namespace kiln
