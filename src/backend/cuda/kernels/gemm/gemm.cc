#include "backend/cuda/kernels/gemm/gemm.h"

#include <algorithm>

#include "backend/cuda/kernels/gemm/family.h"
#include "base/family.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr const GemmFamily* kFamilies[] = {
#define FAMILY(Name) &kGemm##Name,
#include "backend/cuda/kernels/gemm/families.def"
#undef FAMILY
};

}  // namespace

const FieldType& field_type(Tag<const GemmFamily*>) {
  static const FamilyFieldType<GemmFamily> type(kFamilies);
  return type;
}

std::string GemmKernel::name() const { return family->variant(*this); }
bool GemmKernel::reads_maps() const { return family->reads_maps; }
bool GemmKernel::sums_parts() const { return family->sums_parts && splits > 1; }
bool GemmKernel::may_gate() const {
  return family->takes_pairs && !sums_parts() && !lanes && vec % 2 == 0 && !types.is_mixed() && !types.is_of_bytes();
}

Status GemmKernel::check() const {
  TRY(tile.require_whole());
  TRY(require(!types.is_mixed() || (types.b == DType::kF32 && family->takes_mixed && b_constant),
              "a matrix product by ", family->name, " does not take weights of ", types.b, " for ", types.a));
  TRY(require(!types.is_of_bytes() || (family->takes_bytes && a_k_major && b_k_major), "a matrix product by ",
              family->name, " does not take ", types.a, " and ", types.b));
  TRY(require(splits >= 1 && splits <= 64 && is_width(vec, lanes ? 16 : 8) && cluster >= 1 && cluster <= 8 &&
                  (turns == 1 || turns == 2) && (a_piece == 0 || is_width(a_piece, 16)) &&
                  (b_piece == 0 || is_width(b_piece, 16)),
              "a matrix product has ", splits, " splits, vectors of ", vec, " and pieces of ", a_piece, " and ",
              b_piece, " bytes"));
  TRY(require(!lanes || (family == &kGemmWgmma && !types.is_mixed() && vec >= 4 && tile.bn / cluster % (4 * vec) == 0 &&
                         read_bytes >= 0 && read_bytes <= 64),
              "the product kernel '", name(), "' cannot have vectors of ", vec, " in lanes, and read ", read_bytes,
              " bytes a result"));
  TRY(require(!normalized || (family->normalizes && turns == 1 && !lanes && !types.is_of_bytes()),
              "the product kernel '", name(), "' does not normalize rows"));
  return require(family->by_threads == (tile.warps_m == 0), "product family ", family->name, " cannot have the tile ",
                 tile.name());
}

std::string_view entry_of(const GemmKernel& kernel) { return kernel.family->entry; }
int64_t alignment_of(const GemmKernel& kernel) { return kernel.family->alignment(kernel); }

void store_split(DType half, double weight, std::byte* to, int64_t kept, int64_t lost) {
  store_number(half, to, kept, weight);
  store_number(half, to, lost, weight - load_number(half, to, kept));
}

Bytes pack_split_rows(DType half, std::span<const std::byte> elements) {
  const auto count = static_cast<int64_t>(elements.size() / sizeof(float));
  Bytes packed(static_cast<size_t>(2 * count * bytes_of(half)));
  for (int64_t i = 0; i < count; ++i)
    store_split(half, load_number(DType::kF32, elements.data(), i), packed.data(), i, count + i);
  return packed;
}

Status require_layout(bool fits, const GemmKernel& kernel, const GemmArguments& g) {
  return require(fits, "a product of ", g.m, " x ", g.n, " x ", g.k, " does not have the strides that the kernel '",
                 kernel.name(), "' reads");
}

Result<GemmLaunch> plan_tiles(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  const int64_t m = arguments.m, n = arguments.n, batches = arguments.batches.count();
  const TileShape& tile = kernel.tile;
  arguments.splits =
      static_cast<int32_t>(std::max<int64_t>(1, std::min(kernel.splits, ceil_div(arguments.k, tile.bk))));
  const int64_t blocks = ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * batches * arguments.splits;
  const int64_t elements = m * n * batches;
  TRY(require(blocks < (int64_t{1} << 31) && elements / kernel.vec < (int64_t{1} << 38), "a product of ", batches,
              " times ", m, " x ", n, " has more tiles than a grid may have blocks"));
  GemmLaunch launch;
  launch.main.grid[0] = static_cast<uint32_t>(blocks);
  launch.main.block[0] = static_cast<uint32_t>(tile.threads());
  // Where blocks leave room, the next kernel may start early; with many of them that costs more than it hides.
  launch.main.pdl = blocks <= 2 * multiprocessors;
  launch.reduce.pdl = true;
  if (kernel.splits > 1) {  // the kernel only writes partial sums, even where one split is left
    launch.reduce_vectors = elements / kernel.vec;
    launch.reduce.grid[0] = grid_blocks(ceil_div(launch.reduce_vectors, 256));
    launch.reduce.block[0] = 256;
    launch.workspace_bytes = elements * arguments.splits * 4;
  }
  return launch;
}

Result<GemmLaunch> plan_gemm(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  return kernel.family->plan(kernel, arguments, multiprocessors);
}

}  // namespace kiln::cuda
