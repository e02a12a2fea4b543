#include "dims.h"

#include <algorithm>

#include "cli/text.h"

namespace kiln::cli::trtexec {

nvinfer1::Dims to_dims(const Extents& extents, std::string_view tensor) {
  require(extents.size() <= nvinfer1::Dims::MAX_DIMS, "tensor '", tensor, "': ", extents.size(), " axes are more than ",
          nvinfer1::Dims::MAX_DIMS);
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<int32_t>(extents.size());
  std::ranges::copy(extents, dims.d);
  return dims;
}

Extents with_ones(Extents extents) {
  for (int64_t& extent : extents)
    if (extent < 0) extent = 1;
  return extents;
}

std::string declared_text(const Extents& extents) { return extents.empty() ? "scalar" : shape_text(extents); }

int64_t volume(const Extents& extents) {
  int64_t product = 1;
  for (int64_t extent : extents)
    require(!__builtin_mul_overflow(product, extent, &product), "a shape of ", shape_text(extents),
            " does not fit 64 bits");
  return product;
}

}  // namespace kiln::cli::trtexec
