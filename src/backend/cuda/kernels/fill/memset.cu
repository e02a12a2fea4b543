// What a memset node of a graph does: rows of units, each the same word again and again. device/memset_nodes.h says why
// a kernel does it.
#include "device.cuh"

namespace kiln {

template <class Unit>
__device__ __forceinline__ void set_rows(char* to, uint64_t pitch, Unit unit, uint64_t width, uint64_t height) {
  for (uint64_t row = blockIdx.y; row < height; row += gridDim.y)
    for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < width; i += uint64_t(gridDim.x) * blockDim.x)
      reinterpret_cast<Unit*>(to + row * pitch)[i] = unit;
}

}  // namespace kiln

extern "C" __global__ void __launch_bounds__(256)
    memset_node(char* to, uint64_t pitch, uint64_t word, uint64_t unit_bytes, uint64_t width, uint64_t height) {
  const auto w = unsigned(word);
  switch (unit_bytes) {
    case 16: return kiln::set_rows(to, pitch, make_uint4(w, w, w, w), width, height);
    case 4: return kiln::set_rows(to, pitch, w, width, height);
    case 2: return kiln::set_rows(to, pitch, static_cast<unsigned short>(w), width, height);
    default: return kiln::set_rows(to, pitch, static_cast<unsigned char>(w), width, height);
  }
}
