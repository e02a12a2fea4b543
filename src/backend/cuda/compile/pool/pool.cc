#include "backend/cuda/compile/pool/pool.h"

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kKinds[] = {"kMax", "kAverage", "kBlend"};

/// The start of a maximum.
std::string_view least_of(DType type) {
  if (register_name(type) == "float") return "__int_as_float(0xff800000)";
  return type == DType::kU8 ? "0" : type == DType::kI8 ? "-128" : "-2147483647 - 1";
}

}  // namespace

bool can_pool(PoolKind kind, DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16: return true;
    case DType::kI8:
    case DType::kU8:
    case DType::kI32: return kind == PoolKind::kMax;
    default: return false;
  }
}

KernelSource pool_source(DType type, PoolKind kind, const PoolPieces& p) {
  KernelSource source;
  source.entry = p.entry();
  const std::string_view element = element_name(type), name = kKinds[static_cast<size_t>(kind)];
  source.prelude = str("#include \"pool/pieces.cuh\"\nKILN_POOL_PIECES(", p.entry(), ", ", element, ", Pool::", name,
                       ", ", p.window[0], ", ", p.window[1], ", ", p.strides[0], ", ", p.strides[1], ", ", p.left, ", ",
                       p.vec, ", ", p.out, ", ", p.rows, ")\nKILN_POOL(", pool_entry(1), ", ", element, ", float, ",
                       least_of(type), ", ", name, ", 1)\n");
  return source;
}

KernelSource pool_source(DType type, PoolKind kind, int vec, std::span<const int64_t> window, bool lines) {
  const std::string_view held = register_name(type);
  KernelSource source;
  source.entry = pool_entry(vec);
  source.prelude = "#include \"pool/pool.cuh\"\n";
  const std::string kind_name(kKinds[static_cast<size_t>(kind)]);
  if (lines)
    source.prelude += str("KILN_POOL_LINES(", kPoolLinesEntry, ", ", element_name(type), ", ", kind_name, ", ",
                          window[0], ", ", window[1], ")\n");
  if (vec * bits_of(type) == 128 && has_window_kernels(type, kind, window)) {
    source.prelude += str("KILN_POOL_WINDOW(", pool_entry(vec), ", ", element_name(type), ", ", kind_name, ", ",
                          window[0], ", ", window[1], ")\n");
    vec = 1;
  }
  for (;; vec = 1) {
    source.prelude += str("KILN_POOL(", pool_entry(vec), ", ", element_name(type), ", ", held, ", ", least_of(type),
                          ", ", kKinds[static_cast<size_t>(kind)], ", ", vec, ")\n");
    if (vec == 1) return source;
  }
}

KernelSource pool_source(DType type, const PoolTall& tall) {
  KernelSource source;
  source.entry = tall.entry();
  const std::string_view element = element_name(type);
  source.prelude = str("#include \"pool/tall.cuh\"\nKILN_POOL_TALL(", tall.entry(), ", ", element, ", ", tall.window[0],
                       ", ", tall.window[1], ", ", tall.down, ", ", PoolTall::kRows, ")\nKILN_POOL(", pool_entry(1),
                       ", ", element, ", float, ", least_of(type), ", kAverage, 1)\n");
  return source;
}

}  // namespace kiln::cuda
