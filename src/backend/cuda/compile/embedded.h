/// The kernel text that was embedded when Kiln was built (cmake/KilnEmbed.cmake writes the table).
#pragma once

#include <span>
#include <string_view>

namespace kiln::cuda {

struct EmbeddedFile {
  std::string_view name;  ///< "gemm/gemm.cu", "include/cstdint", "ops/scalar.h"
  std::string_view text;
};

/// All embedded files, in the order of their names.
std::span<const EmbeddedFile> embedded_files();

}  // namespace kiln::cuda
