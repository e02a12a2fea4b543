#include "support/formats.h"

#include <cstring>

#include "base/hash.h"
#include "base/str.h"

namespace kiln::conformance {
namespace {

using nvinfer1::TensorFormat;

constexpr TensorFormat kOfRank4[] = {TensorFormat::kLINEAR, TensorFormat::kCHW2,  TensorFormat::kHWC8,
                                     TensorFormat::kCHW4,   TensorFormat::kCHW16, TensorFormat::kCHW32,
                                     TensorFormat::kHWC,    TensorFormat::kHWC16};
constexpr TensorFormat kOfRank5[] = {TensorFormat::kLINEAR, TensorFormat::kDHWC8, TensorFormat::kCDHW32,
                                     TensorFormat::kDHWC};

/// Channels in front or last, and in blocks of how many.
struct Order {
  bool last = false;
  int64_t block = 1;
};
Order order_of(TensorFormat format) {
  switch (format) {
    case TensorFormat::kCHW2: return {false, 2};
    case TensorFormat::kCHW4: return {false, 4};
    case TensorFormat::kCHW16: return {false, 16};
    case TensorFormat::kCHW32:
    case TensorFormat::kCDHW32: return {false, 32};
    case TensorFormat::kHWC:
    case TensorFormat::kDHWC: return {true, 1};
    case TensorFormat::kHWC8:
    case TensorFormat::kDHWC8: return {true, 8};
    case TensorFormat::kHWC16: return {true, 16};
    default: return {};
  }
}

int64_t num_elements(const nvinfer1::Dims& dims) {
  int64_t count = 1;
  for (int i = 0; i < dims.nbDims; ++i) count *= dims.d[i];
  return count;
}

/// Calls `visit` with the place in memory of each element, in row-major order. A tensor is [n, c, pixels...].
template <class Visit>
void for_each_place(TensorFormat format, const nvinfer1::Dims& dims, Visit visit) {
  const auto [last, block] = order_of(format);
  const int64_t images = dims.d[0], channels = dims.d[1], blocks = (channels + block - 1) / block;
  int64_t pixels = 1;
  for (int i = 2; i < dims.nbDims; ++i) pixels *= dims.d[i];
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t group = last ? (n * pixels + p) * blocks + c / block : (n * blocks + c / block) * pixels + p;
        visit(group * block + c % block);
      }
}

}  // namespace

TensorFormat random_format(uint64_t seed, const std::string& name, int rank) {
  const uint64_t number = hash128(str(seed, ' ', name)).low;
  if (rank == 4) return kOfRank4[number % std::size(kOfRank4)];
  return rank == 5 ? kOfRank5[number % std::size(kOfRank5)] : TensorFormat::kLINEAR;
}

int64_t storage_elements(TensorFormat format, const nvinfer1::Dims& dims) {
  const int64_t count = num_elements(dims), block = order_of(format).block;
  return block == 1 || count == 0 ? count : count / dims.d[1] * ((dims.d[1] + block - 1) / block * block);
}

std::vector<std::byte> to_format(TensorFormat format, const nvinfer1::Dims& dims, size_t size,
                                 const std::vector<std::byte>& dense) {
  if (format == TensorFormat::kLINEAR) return dense;
  std::vector<std::byte> memory(static_cast<size_t>(storage_elements(format, dims)) * size, std::byte{0xa5});
  const std::byte* from = dense.data();
  for_each_place(format, dims, [&](int64_t place) {
    std::memcpy(memory.data() + static_cast<size_t>(place) * size, from, size);
    from += size;
  });
  return memory;
}

std::vector<std::byte> from_format(TensorFormat format, const nvinfer1::Dims& dims, size_t size,
                                   const std::vector<std::byte>& memory) {
  if (format == TensorFormat::kLINEAR) return memory;
  std::vector<std::byte> dense(static_cast<size_t>(num_elements(dims)) * size);
  std::byte* to = dense.data();
  for_each_place(format, dims, [&](int64_t place) {
    std::memcpy(to, memory.data() + static_cast<size_t>(place) * size, size);
    to += size;
  });
  return dense;
}

}  // namespace kiln::conformance
