/// The lists of TensorRT's flags: name:value pairs, shapes, and how shapes are printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::trtexec {

using Extents = std::vector<int64_t>;  ///< of a shape, or the values of a shape tensor
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
using NamedExtents = std::vector<std::pair<std::string, Extents>>;

/// "x:1,y:2". The name ends at the last colon; one in single quotes ends at its quote, so that "'a:0':C:/x" has the
/// value "C:/x". `flag` begins the message of a failure; so does it below.
NamedTexts parse_pairs(std::string_view text, std::string_view flag);

/// "x:1x3x224x224,y:4,z:scalar".
NamedExtents parse_shapes(std::string_view text, std::string_view flag);

/// "1x3x224x224"; nothing for a scalar.
std::string shape_text(std::span<const int64_t> extents);

/// Whether a name given on the command line means the tensor: equal, or equal around its one '*'.
bool matches(std::string_view pattern, std::string_view tensor);

/// The entry of a tensor: of its very name, else the first whose pattern matches; null if there is none.
template <class T>
const T* find_tensor(const std::vector<std::pair<std::string, T>>& entries, std::string_view tensor) {
  for (const auto& [name, value] : entries)
    if (name == tensor) return &value;
  for (const auto& [name, value] : entries)
    if (matches(name, tensor)) return &value;
  return nullptr;
}

}  // namespace kiln::trtexec
