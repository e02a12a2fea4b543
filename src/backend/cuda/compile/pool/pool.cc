#include "backend/cuda/compile/pool/pool.h"

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kKinds[] = {"Pool::kMax", "Pool::kAverage", "Pool::kBlend"};

/// The start of a maximum.
std::string_view least_of(DType type) {
  if (register_name(type) == "float") return "__int_as_float(0xff800000)";
  return type == DType::kU8 ? "0" : type == DType::kI8 ? "-128" : "-2147483647 - 1";
}

std::string entry(std::string_view name, std::string_view threads, const std::string& call) {
  return entry_text(name, threads, struct_parameter("Pooling"), call);
}
/// The kernel for all windows.
std::string any_window(DType type, PoolKind kind, int vec) {
  return entry(pool_entry(vec), "256",
               str("pool<", element_name(type), ", ", register_name(type), ", ", kKinds[static_cast<size_t>(kind)],
                   ", ", vec, ">(args, ", least_of(type), ')'));
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
  source.prelude =
      "#include \"pool/pieces.cuh\"\n" +
      entry(p.entry(), "128",
            str("pool_pieces<PoolPieces<", element, ", ", name, ", ", p.window[0], ", ", p.window[1], ", ",
                p.strides[0], ", ", p.strides[1], ", ", p.left, ", ", p.vec, ", ", p.out, ", ", p.rows, ">>(args)")) +
      any_window(type, kind, 1);
  return source;
}

KernelSource pool_source(DType type, PoolKind kind, int vec, std::span<const int64_t> window, bool lines) {
  KernelSource source;
  source.entry = pool_entry(vec);
  source.prelude = "#include \"pool/pool.cuh\"\n";
  const auto compiled = [&] {
    return str('<', element_name(type), ", ", kKinds[static_cast<size_t>(kind)], ", ", window[0], ", ", window[1]);
  };
  if (lines) source.prelude += entry(kPoolLinesEntry, "128", str("pool_lines", compiled(), ", 4>(args)"));
  if (vec * bits_of(type) == 128 && has_window_kernels(type, kind, window)) {
    source.prelude += entry(pool_entry(vec), "256", str("pool_window", compiled(), ">(args)"));
    vec = 1;
  }
  for (;; vec = 1) {
    source.prelude += any_window(type, kind, vec);
    if (vec == 1) return source;
  }
}

KernelSource pool_source(DType type, const PoolTall& tall) {
  KernelSource source;
  source.entry = tall.entry();
  source.prelude = "#include \"pool/tall.cuh\"\n" +
                   entry(tall.entry(), "128",
                         str("average_tall<", element_name(type), ", ", tall.window[0], ", ", tall.window[1], ", ",
                             tall.down, ", ", PoolTall::kRows, ">(args)")) +
                   any_window(type, PoolKind::kAverage, 1);
  return source;
}

}  // namespace kiln::cuda
