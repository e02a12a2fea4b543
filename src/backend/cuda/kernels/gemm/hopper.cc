// What kernels of sm_90a share: tensor maps, the text of their instruction, and launches.
#include "backend/cuda/kernels/gemm/hopper.h"

#include "backend/cuda/device/driver_types.h"
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {

int map_type(DType type) { return type == DType::kF16 ? kMapF16 : type == DType::kBF16 ? kMapBF16 : kMapTF32; }

MapPlan map_of(DType type, int64_t k, int64_t rows, int64_t pitch, int64_t batches, int64_t step, int64_t box_rows) {
  const int64_t size = bytes_of(type);
  MapPlan map;
  map.type = map_type(type);
  map.extents[0] = static_cast<uint64_t>(k);
  map.extents[1] = static_cast<uint64_t>(rows);
  map.extents[2] = static_cast<uint64_t>(step ? batches : 1);
  map.strides_bytes[0] = static_cast<uint64_t>(pitch * size);
  map.strides_bytes[1] = static_cast<uint64_t>((step ? step : pitch) * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  map.box[1] = static_cast<uint32_t>(box_rows);
  return map;
}

std::string wgmma_source(int64_t n, DType element, WgmmaForm form) {
  const int64_t sums = n / 2;
  const bool tf32 = element == DType::kF32, shared = form == WgmmaForm::kShared;
  const std::string_view type = tf32 ? "tf32" : element == DType::kF16 ? "f16" : "bf16";
  std::string registers, operands;
  for (int64_t i = 0; i < sums; ++i) {
    registers += str(i ? ", " : "", "%", i);
    operands += str(i ? ", " : "", "\"+f\"(d[", i / 4, "][", i % 4, "])");
  }
  // Operands by number: the sums, then a (a descriptor or four registers), b, and whether to accumulate.
  const int64_t b = sums + (shared ? 1 : 4);
  const std::string a =
      shared ? str("%", sums) : str("{%", sums, ", %", sums + 1, ", %", sums + 2, ", %", sums + 3, "}");
  const std::string_view layout = tf32 ? "" : shared ? ", 0, 0" : ", 1";
  return str("namespace kiln {\n/// d (64 x ", n, ") = a * b, or d + a * b, for 32 bytes of k.\n",
             "__device__ __forceinline__ void ", shared ? "wgmma" : "wgmma_values", "(float (&d)[", n / 8, "][4], ",
             shared ? "unsigned long long a" : "const unsigned (&a)[4]", ", unsigned long long b, int accumulate) {\n",
             "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", b + 1, ", 0;\\nwgmma.mma_async.sync.aligned.m64n",
             n, tf32 ? "k8" : "k16", ".f32.", type, ".", type, " {", registers, "}, ", a, ", %", b, ", p, 1, 1", layout,
             ";\\n}\"\n               : ", operands,
             "\n               : ", shared ? "\"l\"(a)" : "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])",
             ", \"l\"(b), \"r\"(accumulate));\n}\n}  // namespace kiln\n");
}

void define_stages(const GemmKernel& kernel, KernelSource& source) {
  define(source, "BM", kernel.tile.bm);
  define(source, "BN", kernel.tile.bn);
  define(source, "STAGES", kernel.tile.stages);
  define(source, "VEC", kernel.vec);
}
void define_wgmma(const GemmKernel& kernel, KernelSource& source) {
  define_types(kernel, source);
  source.prelude += wgmma_source(kernel.tile.bn, kernel.types.a);
}

Result<GemmLaunch> plan_maps(const GemmKernel& kernel, GemmArguments& g, int64_t box_columns) {
  TRY(require_layout(g.n % kernel.vec == 0, kernel, g));
  const int64_t size = bytes_of(kernel.types.a), batches = g.batches.count();
  const BatchAxis axis = g.batches.axes ? g.batches.axis[0] : BatchAxis{};
  const auto aligned = [&](int64_t elements) { return elements * size % 16 == 0; };
  TRY(require(g.batches.axes <= 1 && g.k > 0 && g.a_k == 1 && g.b_k == 1 && aligned(g.a_row) && aligned(g.b_column) &&
                  aligned(axis.a) && aligned(axis.b),
              "a product of ", g.batches.axes, " batch axes and k = ", g.k,
              " is not for tensor maps, which take one axis and rows of whole 16 bytes"));
  g.splits = 1;
  GemmLaunch launch;
  launch.batches = static_cast<int32_t>(batches);
  launch.map_a = map_of(kernel.types.a, g.k, g.m, g.a_row, batches, axis.a, kernel.tile.bm);
  launch.map_b = map_of(kernel.types.a, g.k, g.n, g.b_column, batches, axis.b, box_columns);
  return launch;
}

Status set_grid(GemmLaunch& launch, const GemmArguments& g, int64_t blocks, int64_t multiprocessors) {
  TRY(require(blocks < (int64_t{1} << 31), "a product of ", g.m, " x ", g.n, " has more tiles than a grid"));
  launch.main.grid[0] = static_cast<uint32_t>(blocks);
  launch.main.pdl = blocks <= 2 * multiprocessors;
  return {};
}

bool takes_maps(const GemmSearch& search) {
  return search.machine.compute == 90 && search.machine.shared_bytes >= kMostSharedBytes &&
         search.takes_tensor_cores() && search.is_along_k() && search.k >= 1 && search.traits.one_batch_axis;
}

}  // namespace kiln::cuda
