#include "backend/cuda/kernels/gemm/gemm.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/function.h"
#include "backend/cuda/kernels/sizes.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kFiles[] = {"gemm/simt.cu", "gemm/mma.cu", "gemm/wgmma.cu", "gemm/small.cu", "gemm/rows.cu"};
constexpr const char* kEntries[] = {"gemm_simt", "gemm_mma", "gemm_wgmma", "gemm_small", "gemm_rows"};

/// FMA and tensor-core operations a cycle and multiprocessor, as mma.sync reaches them.
double flops_per_cycle(const GemmKernel& kernel) {
  if (kernel.family == GemmFamily::kSimt) return 200;
  return kernel.element == DType::kF32 ? 900 : 2200;
}

}  // namespace

int64_t power_of_two_in(int64_t n, int64_t most) {
  int64_t result = most;
  while (n % result != 0) result /= 2;
  return result;
}

std::string GemmKernel::name() const {
  if (family == GemmFamily::kSimt) return str("simt ", tile.name(), splits > 1 ? str(", k in ", splits) : "");
  if (uses_maps(*this))
    return str(family == GemmFamily::kSmall ? "small " : "wgmma ", tile.name(), " in ", tile.stages,
               splits > 1 ? str(", k in ", splits) : "", cluster > 1 ? str(", pairs of ", cluster) : "",
               turns > 1 ? ", in turns" : "", float_weights ? ", w in two" : "");
  if (family == GemmFamily::kRows)
    return str("rows ", tile.name(), " in ", tile.stages, " by ", tile.warps_n,
               splits > 1 ? str(", k in ", splits) : "");
  const std::string pieces =
      a_piece == 16 && b_piece == 16 ? "" : str(", pieces of ", std::min(a_piece, b_piece), " bytes");
  return str(element == DType::kF32 ? "tf32 " : "mma ", tile.name(), " in ", tile.stages,
             splits > 1 ? str(", k in ", splits) : "", pieces);
}

Status GemmKernel::check() const {
  TRY(tile.require_whole());
  TRY(require(!float_weights || (family == GemmFamily::kSmall && b_constant && element != DType::kF32),
              "a matrix product by ", family, " does not take FP32 weights for ", element));
  TRY(require(
      splits >= 1 && splits <= 64 && vec >= 1 && vec <= 8 && cluster >= 1 && cluster <= 8 && (turns == 1 || turns == 2),
      "a matrix product has ", splits, " splits and vectors of ", vec));
  for (const DType type : {element, result}) TRY(require(is_kernel_float(type), "no matrix product is of ", type));
  return require((family == GemmFamily::kSimt) == (tile.warps_m == 0), "a matrix product by ", family,
                 " is not tiled by ", tile.name());
}

std::string_view entry_of(const GemmKernel& kernel) { return kEntries[static_cast<size_t>(kernel.family)]; }

int64_t alignment_of(const GemmKernel& kernel) {
  const int64_t vector = std::min<int64_t>(16, kernel.vec * 4);  // of what an epilogue reads, FP32 at most
  if (kernel.family == GemmFamily::kSimt) return kernel.splits > 1 ? vector : 1;
  return kernel.family == GemmFamily::kMma ? std::max({kernel.a_piece, kernel.b_piece, vector}) : 16;
}

KernelSource source_of(const GemmKernel& kernel, const Epilogue& epilogue) {
  const bool simt = kernel.family == GemmFamily::kSimt;
  KernelSource source{
      kFiles[static_cast<size_t>(kernel.family)], epilogue_source(epilogue), {}, std::string(entry_of(kernel))};
  source.quick = is_quick(epilogue);
  source.defines = uses_maps(kernel) ? hopper_defines(kernel) : kernel.tile.defines();
  source.defines.push_back(str("ELEMENT=", element_name(kernel.element)));
  source.defines.push_back(str("RESULT=", element_name(kernel.result)));
  if (uses_maps(kernel)) {
    source.prelude += wgmma_source(kernel.tile.bn, kernel.element);
    return source;
  }
  if (kernel.family == GemmFamily::kRows) {
    source.defines.push_back(str("VEC=", kernel.vec));
    source.defines.push_back(str("SPLIT=", kernel.splits));
    source.defines.push_back(str("B_CONSTANT=", int{kernel.b_constant}));
    return source;
  }
  const std::string_view suffix = simt ? "_K_FAST=" : "_K_MAJOR=";
  source.defines.push_back(str("A", suffix, int{kernel.a_k_major}));
  source.defines.push_back(str("B", suffix, int{kernel.b_k_major}));
  source.defines.push_back(str("VEC=", kernel.vec));
  source.defines.push_back(str("SPLIT=", int{kernel.splits > 1}));
  if (simt) return source;
  source.defines.push_back(str("A_PIECE=", kernel.a_piece));
  source.defines.push_back(str("B_PIECE=", kernel.b_piece));
  return source;
}

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

namespace {

/// The lines of an operand that its kernel reads along: so many of so many elements, `pitch` apart, which themselves
/// are `apart` from each other.
struct Lines {
  int64_t count, length, pitch, apart;

  /// Whether pieces of `bytes` are aligned, and wholly inside or outside of a line, or within its padding.
  bool are_in_pieces(int64_t bytes, int64_t element_bytes) const {
    const int64_t whole = bytes / element_bytes;
    return whole > 0 && bytes % element_bytes == 0 && (length <= 1 || apart == 1) &&
           (count <= 1 || pitch % whole == 0) && (length % whole == 0 || pitch >= ceil_div(length, whole) * whole);
  }
};

/// Checks what kernels take for granted about a product's extents and strides: those of a plan are input.
Status check_layout(const GemmKernel& kernel, const GemmArguments& g) {
  bool fits = g.n % kernel.vec == 0 || (kernel.family == GemmFamily::kSimt && kernel.splits == 1);
  if (kernel.family == GemmFamily::kMma) {
    const int64_t size = bytes_of(kernel.element);
    const Lines a = kernel.a_k_major ? Lines{g.m, g.k, g.a_row, g.a_k} : Lines{g.k, g.m, g.a_k, g.a_row};
    const Lines b = kernel.b_k_major ? Lines{g.n, g.k, g.b_column, g.b_k} : Lines{g.k, g.n, g.b_k, g.b_column};
    fits = fits && a.are_in_pieces(kernel.a_piece, size) && b.are_in_pieces(kernel.b_piece, size);
    for (int i = 0; fits && i < g.batches.axes; ++i)
      fits = g.batches.axis[i].a * size % kernel.a_piece == 0 && g.batches.axis[i].b * size % kernel.b_piece == 0;
  }
  return require(fits, "a product of ", g.m, " x ", g.n, " x ", g.k, " is not laid out as the kernel '", kernel.name(),
                 "' reads it");
}

}  // namespace

Result<GemmLaunch> plan_gemm(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  TRY(check_layout(kernel, arguments));
  if (uses_maps(kernel)) return plan_hopper(kernel, arguments, multiprocessors);
  if (kernel.family == GemmFamily::kRows) return plan_rows(kernel, arguments);
  const int64_t m = arguments.m, n = arguments.n, batches = arguments.batches.count();
  const TileShape& tile = kernel.tile;
  arguments.splits =
      static_cast<int32_t>(std::max<int64_t>(1, std::min(kernel.splits, ceil_div(arguments.k, tile.bk))));
  const int64_t blocks = ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * batches * arguments.splits;
  const int64_t elements = m * n * batches;
  TRY(require(blocks < (int64_t{1} << 31) && elements / kernel.vec < (int64_t{1} << 38), "a product of ", batches,
              " times ", m, " x ", n, " has more tiles than a grid"));
  GemmLaunch launch;
  launch.main.grid[0] = static_cast<uint32_t>(blocks);
  launch.main.block[0] = static_cast<uint32_t>(tile.threads());
  // Where blocks leave room, the next kernel may start early; with many of them that costs more than it hides.
  launch.main.pdl = blocks <= 2 * multiprocessors;
  launch.reduce.pdl = true;
  if (kernel.family == GemmFamily::kMma) launch.main.shared_bytes = mma_shared_bytes(tile, kernel.element);
  if (kernel.splits > 1) {  // the kernel only writes partial sums, even where one split is left
    launch.reduce_vectors = elements / kernel.vec;
    launch.reduce.grid[0] = grid_blocks(ceil_div(launch.reduce_vectors, 256));
    launch.reduce.block[0] = 256;
    launch.workspace_bytes = elements * arguments.splits * 4;
  }
  return launch;
}

std::vector<GemmCandidate> gemm_candidates(const GemmTraits& traits, int64_t m, int64_t n, int64_t k, int64_t batches,
                                           const Machine& machine) {
  std::vector<GemmCandidate> result;
  if (traits.float_weights) {
    add_hopper_candidates(traits, m, n, k, batches, machine, result);
    return result;
  }
  GemmKernel kernel;
  kernel.element = traits.element;
  kernel.result = traits.result;
  kernel.a_k_major = traits.a_k_major;
  kernel.b_k_major = traits.b_k_major;
  const auto add = [&] {
    const double us = product_estimate_us(kernel.tile, static_cast<double>(m), static_cast<double>(n),
                                          static_cast<double>(k), static_cast<double>(batches), kernel.splits,
                                          bytes_of(kernel.element), flops_per_cycle(kernel), machine);
    result.push_back({kernel, us});
  };
  if (machine.compute >= 80 && (traits.element != DType::kF32 || traits.tf32)) {
    kernel.family = GemmFamily::kMma;
    const int64_t size = bytes_of(traits.element), halves = size == 2 ? 2 : 1;
    kernel.a_piece = std::min<int64_t>(16, traits.a_align * size);
    kernel.b_piece = std::min<int64_t>(16, traits.b_align * size);
    kernel.vec = std::min<int64_t>(traits.c_align, 16 / bytes_of(traits.result));
    const TileShape tiles[] = {
        {128, 128, 32 * halves, 2, 4, 0, 0, 3}, {256, 128, 16 * halves, 4, 2, 0, 0, 4},
        {128, 64, 32 * halves, 4, 2, 0, 0, 4},  {64, 128, 32 * halves, 2, 4, 0, 0, 4},
        {64, 64, 32 * halves, 2, 2, 0, 0, 4},   {64, 32, 32 * halves, 2, 2, 0, 0, 5},
        {32, 64, 32 * halves, 2, 2, 0, 0, 5},   {16, 64, 32 * halves, 1, 4, 0, 0, 6},
        {128, 32, 32 * halves, 4, 1, 0, 0, 4},
    };
    for (const TileShape& tile : tiles) {
      // Lines along rows or columns are as long as the tile is wide, and read in 128-byte groups.
      if (!kernel.a_k_major && tile.bm * size < 64 * (size / 2)) continue;
      if (!kernel.b_k_major && tile.bn * size < 64 * (size / 2)) continue;
      if (mma_shared_bytes(tile, traits.element) > machine.shared_bytes) continue;
      kernel.tile = tile;
      for (const int64_t splits : {1, 2, 4, 8, 16}) {
        const int64_t blocks = ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * batches;
        if (splits > 1 &&
            (splits * tile.bk * 2 > k || blocks * splits > 3 * static_cast<int64_t>(machine.multiprocessors)))
          break;
        kernel.splits = splits;
        add();
      }
    }
  }
  kernel.family = GemmFamily::kSimt;
  kernel.a_piece = kernel.b_piece = 0;
  kernel.vec = std::min<int64_t>(traits.c_align, 16 / bytes_of(traits.result));
  for (const TileShape& tile : {TileShape{128, 128, 16, 0, 0, 8, 8, 0}, TileShape{64, 64, 16, 0, 0, 4, 4, 0},
                                TileShape{32, 64, 16, 0, 0, 4, 4, 0}}) {
    kernel.tile = tile;
    const int64_t blocks = ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * batches;
    for (const int64_t splits : {1, 2, 4, 8, 16}) {
      if (splits > 1 &&
          (splits * tile.bk * 4 > k || blocks * splits > 3 * static_cast<int64_t>(machine.multiprocessors)))
        break;
      kernel.splits = splits;
      add();
    }
  }
  add_rows_candidates(traits, m, n, k, batches, machine, result);
  add_hopper_candidates(traits, m, n, k, batches, machine, result);
  std::ranges::stable_sort(result, {}, &GemmCandidate::estimate_us);
  return result;
}

}  // namespace kiln::cuda
