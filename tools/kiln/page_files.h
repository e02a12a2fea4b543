/// The page's files as the build embedded them (cmake/KilnEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace kiln {

struct PageFile {
  std::string_view name, text;
};
/// Sorted by name, but for the layout library "dagre.js", which is last and missing where the build had none.
std::span<const PageFile> page_files();

}  // namespace kiln
