#include "tensor/testing/counting.h"

#include <numeric>
#include <vector>

namespace kiln {

HostTensor counting(DType dtype, const Extents& extents) {
  std::vector<int64_t> numbers(static_cast<size_t>(volume(extents)));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (bits_of(dtype) < 8)
    for (int64_t& number : numbers) number = number % 15 - 7;
  return HostTensor::of_ints(dtype, extents, numbers);
}

}  // namespace kiln
