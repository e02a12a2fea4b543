#include "backend/cuda/compile/lanes/normalize.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/lanes/normalize_apart.h"
#include "backend/cuda/kernels/lanes/normalize_held.h"
#include "backend/cuda/kernels/lanes/normalize_slices.h"

namespace kiln::cuda {
namespace {

constexpr int kMostHeld = 32;  // coefficients of a kind in a thread's registers

std::string parameter() { return struct_parameter("Normalization"); }
std::string types_of(const NormalizationKernels& kernels) {
  return str(element_name(kernels.dtype), ", ", element_name(kernels.coefficients));
}

// Text that instantiates kernels of normalize_held.h, normalize_slices.h and normalize_apart.h: all, or those of them
// that are wanted.

std::string held_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted) {
  std::string text;
  if (kernels.vec * bits_of(kernels.dtype) / 8 != kHeldVectorBytes) return text;
  for (const HeldTile& tile : kHeldTiles)
    for (const bool last : {false, true}) {
      const std::string entry = tile.entry(last, kernels.vec);
      if (!is_wanted(wanted, entry)) continue;
      if (text.empty()) text = "#include \"lanes/normalize_held.cuh\"\n";
      text += entry_text(entry, str(tile.threads, ", ", tile.blocks), parameter(),
                         str("normalize_held<", types_of(kernels), ", ", kernels.vec, ", ", tile.vectors,
                             last ? ", true>(args)" : ", false>(args)"));
    }
  return text;
}

std::string slices_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted) {
  std::string text;
  const int64_t vec = SlicesKernel::kLine * 8 / bits_of(kernels.dtype);
  for (int64_t threads = SlicesKernel::kLeastThreads; threads <= SlicesKernel::kMostThreads; threads *= 2) {
    const std::string entry = SlicesKernel::entry(threads, vec);
    if (!is_wanted(wanted, entry)) continue;
    if (text.empty()) text = "#include \"lanes/normalize_slices.cuh\"\n";
    text += entry_text(entry, str(threads, ", ", 512 / threads),
                       "const __grid_constant__ kiln::TensorMap map, " + parameter(),
                       str("normalize_slices<", types_of(kernels), ", ", vec, ", ", SlicesKernel::kHeld, ", ", threads,
                           ">(map, args)"));
  }
  return text;
}

std::string apart_instances(const NormalizationKernels& kernels, std::span<const std::string> wanted) {
  std::string text;
  const std::string type(element_name(kernels.dtype)), types = types_of(kernels);
  const auto add = [&](std::string_view bounds, std::string_view name, std::string_view arguments, int held) {
    const std::string entry = held > 0 ? str(name, '_', held, '_', kernels.vec) : str(name, '_', kernels.vec);
    if (!is_wanted(wanted, entry)) return;
    if (text.empty()) text = "#include \"lanes/normalize_apart.cuh\"\n";
    text += entry_text(entry, bounds, parameter(),
                       str(name, '<', arguments, ", ", kernels.vec, held > 0 ? str(", ", held) : "", ">(args)"));
  };
  for (const int held : kApartHeld) add("256, 2", "normalize_apart", types, held);
  add("512", "normalize_apart_parts", type, 0);
  add("512", "normalize_apart_pixels", types, 0);
  return text;
}

/// The kernels of normalize_groups.cuh.
struct GroupKernel {
  const char* name;
  bool reads_coefficients = true;
};
constexpr GroupKernel kGroupKernels[] = {{"normalize_teams"}, {"normalize_cluster"},
                                         {"normalize_long"},  {"normalize_parts", false},
                                         {"normalize_apply"}, {"normalize_pixel_parts", false},
                                         {"normalize_pixels"}};

}  // namespace

KernelSource normalization_source(const NormalizationKernels& kernels, std::span<const std::string> wanted) {
  const std::string type(element_name(kernels.dtype)), types = types_of(kernels);
  KernelSource source;
  source.prelude = "#include \"lanes/normalize_groups.cuh\"\n";
  const auto add = [&](const std::string& name, const std::string_view arguments, int vec) {
    const std::string entry = str(name, '_', vec);
    if (!is_wanted(wanted, entry)) return;
    source.prelude += entry_text(entry, "512", parameter(), str(name, '<', arguments, ", ", vec, ">(args)"));
    if (source.entry.empty()) source.entry = entry;
  };
  if (const auto& tile = kernels.tile) {
    const std::string bytes = kernels.bytes ? str(", ", element_name(*kernels.bytes)) : "";
    const bool held = kernels.few_rows && tile->vec * tile->loads <= kMostHeld;
    const std::string_view centered = kernels.centered ? ", true" : ", false";
    const std::string call = tile->team > 0
                                 ? str("normalize_short<", types, ", ", tile->loads, ", ", tile->team, ", ",
                                       tile->threads, centered, ">(args)")
                                 : str(tile->block ? "normalize_block<" : "normalize_warp<", types, ", ", tile->vec,
                                       ", ", tile->loads, held ? ", true" : ", false", centered, bytes, ">(args)");
    source.prelude += str("#include \"lanes/normalize_", tile->team > 0 ? "short" : "rows", ".cuh\"\n",
                          entry_text("normalize_" + tile->name(), str(tile->threads), parameter(), call));
    const std::string entry = "normalize_long_1";
    source.prelude += entry_text(entry, "512", parameter(), str("normalize_long<", types, ", 1", bytes, ">(args)"));
    if (source.entry.empty()) source.entry = entry;
    return source;
  }
  if (kernels.held) source.prelude += held_instances(kernels, wanted);
  if (kernels.slices) source.prelude += slices_instances(kernels, wanted);
  if (kernels.apart) source.prelude += apart_instances(kernels, wanted);
  for (int vec = kernels.apart ? 1 : kernels.vec;; vec = 1) {
    for (const GroupKernel& kernel : kGroupKernels) add(kernel.name, kernel.reads_coefficients ? types : type, vec);
    if (vec == 1) return source;
  }
}

}  // namespace kiln::cuda
