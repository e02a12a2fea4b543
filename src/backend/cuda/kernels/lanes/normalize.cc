#include "backend/cuda/kernels/lanes/normalize.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {
namespace {
constexpr int64_t kThreads = 512, kLeastChunk = 4096;
int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
}  // namespace

KernelSource normalization_source(const NormalizationKernels& kernels) {
  const std::string_view type = element_name(kernels.dtype);
  const std::string types = str(type, ", ", element_name(kernels.coefficients));
  KernelSource source;
  source.entry = "normalize_long";
  source.prelude =
      str("#include \"lanes/normalize.cuh\"\nKILN_NORMALIZE(normalize_long, 512, (normalize_long<", types, ">))\n");
  if (const auto& tile = kernels.tile)
    source.prelude += str("KILN_NORMALIZE(normalize_", tile->name(), ", ", tile->block ? 1024 : 128, ", (normalize_",
                          tile->block ? "block<" : "warps<", types, ", ", tile->vec, ", ", tile->loads, ">))\n");
  else
    source.prelude += str("KILN_NORMALIZE(normalize_parts, 512, (normalize_parts<", type,
                          ">))\nKILN_NORMALIZE(normalize_apply, 512, (normalize_apply<", types, ">))\n");
  return source;
}

Result<std::vector<NormalizationLaunch>> normalization_launches(const NormalizationShape& s, const RowTile* tile,
                                                                bool may_split, int num_sms) {
  NormalizationLaunch first;
  NormalizationArgument& n = first.argument;
  const int64_t in_group = s.rows ? 1 : s.channels / s.groups;
  const int64_t length = s.rows ? s.length : in_group * s.plane;
  if (s.n == 0 || length == 0) return std::vector<NormalizationLaunch>();
  n.rows = s.rows ? s.n : s.n * s.groups;
  TRY(require(length < (int64_t{1} << 30), "a normalisation over ", length, " elements; 2^30 are too many"));
  n.length = n.chunk = static_cast<int32_t>(length);
  n.epsilon = s.epsilon;
  n.groups = static_cast<int32_t>(s.rows ? 1 : s.groups);
  n.channels = static_cast<int32_t>(in_group);
  n.image_stride = s.rows ? length : s.channels * s.plane;
  n.group_stride = s.channels_last ? in_group : length;
  n.run_stride = s.channels;
  n.coefficients = s.rows ? 0 : s.channels_last ? 2 : 1;
  n.inner = divisor_of(s.channels_last ? in_group : length);
  n.plane = divisor_of(std::max<int64_t>(1, s.plane));
  first.shape.pdl = true;
  if (tile) {
    first.entry = "normalize_" + tile->name();
    first.shape = tile->shape(n.rows, length);
    return std::vector{first};
  }
  const int64_t chunks =
      may_split ? std::clamp<int64_t>(2 * num_sms / n.rows, 1, std::max<int64_t>(1, length / kLeastChunk)) : 1;
  n.chunk = static_cast<int32_t>(ceil_div(length, chunks));
  n.chunks = static_cast<int32_t>(ceil_div(length, n.chunk));
  first.shape.grid[0] = grid_blocks(n.rows * n.chunks);
  first.shape.block[0] = static_cast<uint32_t>(std::clamp<int64_t>(ceil_div(n.chunk, 128) * 32, 32, kThreads));
  first.entry = n.chunks == 1 ? "normalize_long" : "normalize_parts";
  if (n.chunks == 1) return std::vector{first};
  NormalizationLaunch last = first;
  last.entry = "normalize_apply";
  return std::vector{first, last};
}

int64_t normalization_workspace_bytes(int num_sms) { return 3 * int64_t{num_sms} * 2 * 4; }

}  // namespace kiln::cuda
