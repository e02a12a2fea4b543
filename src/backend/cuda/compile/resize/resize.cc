#include "backend/cuda/compile/resize/resize.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/resize/entries.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kDoublings[] = {"kCentered", "kFromFirst"};
std::string unit_of(int bytes) { return bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t"); }

}  // namespace

bool can_resize(ResizeMode mode, DType type) {
  if (mode == ResizeMode::kNearest) return bits_of(type) >= 8;
  return is_kernel_float(type);
}

KernelSource resize_source(ResizeMode mode, DType type, int width, std::span<const std::string> wanted) {
  KernelSource source;
  source.prelude = "#include \"resize/double.cuh\"\n#include \"resize/strips.cuh\"\n";
  // `blocks` of a multiprocessor at least: what registers a thread may have.
  const auto add = [&](const std::string& entry, const std::string& call, int blocks = 1) {
    if (!is_wanted(wanted, entry)) return;
    source.prelude += entry_text(entry, str("128, ", blocks), struct_parameter("Resize"), call + "(args)");
    if (source.entry.empty()) source.entry = entry;
  };
  const int element = bits_of(type) / 8, pack = resize_pack(mode, element);
  const bool nearest = mode == ResizeMode::kNearest;
  if (nearest && pack > 1)
    add(std::string(kResizeLinesEntry),
        str("resize_nearest_band<", unit_of(element), ", ", pack, ", ", kResizeRowsOfNearest, '>'));
  if (mode == ResizeMode::kLinear)
    for (size_t i = 0; i < std::size(kDoublings); ++i)
      add(std::string(kResizeDoublingEntries[i]),
          str("resize_double<", element_name(type), ", Doubling::", kDoublings[i], ", ", kResizeRowsOfDoubling, '>'));
  if (mode == ResizeMode::kLinear)
    add(std::string(kResizeStripsEntry), str("resize_strips<", element_name(type), ", ", kResizeVecOfStrips, '>'),
        element == 4 ? 8 : 10);
  if (mode == ResizeMode::kLinear)
    add(std::string(kResizeLinesEntry),
        str("resize_lines<", element_name(type), ", ", pack, ", ", kResizeBands[1].rows, ", ", kResizeBands[1].span,
            '>'),
        6);
  for (;; width = 1) {
    const std::string unit = unit_of(element * width), vector = str(element_name(type), ", ", width);
    add(resize_entry(width), nearest ? str("resize_nearest<", unit, '>') : str("resize_taps<", vector, '>'));
    if (nearest)
      add(resize_band_entry(width, kResizeRowsOfNearest),
          str("resize_nearest_band<", unit, ", 1, ", kResizeRowsOfNearest, '>'));
    if (mode == ResizeMode::kLinear)
      for (const auto& [rows, span] : kResizeBands)
        add(resize_band_entry(width, rows), str("resize_band<", vector, ", ", rows, ", ", span, '>'));
    if (width == 1) return source;
  }
}

}  // namespace kiln::cuda
