#include "kiln/made_up.h"

#include "tensor/view.h"

namespace kiln {

Result<HostTensor> made_up_tensor(DType dtype, const Extents& extents, std::mt19937_64& random) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(dtype, extents));
  for (int64_t i = 0; i < fresh.tensor.volume(); ++i) {
    if (is_float(dtype))
      store_number(dtype, fresh.data.data(), i, static_cast<double>(random() >> 40) * 0x1p-23 - 1);
    else
      store_integer(dtype, fresh.data.data(), i, static_cast<int64_t>(random() & 1));
  }
  return std::move(fresh.tensor);
}

}  // namespace kiln
