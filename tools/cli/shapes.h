/// The lists of TensorRT's flags: name:value pairs, shapes, and how shapes are printed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "text.h"

namespace kiln::cli {

using Extents = std::vector<int64_t>;  ///< of a shape, or the values of a shape tensor
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
using NamedExtents = std::vector<std::pair<std::string, Extents>>;

/// "x:1,y:2". The name ends at the last colon; one in single quotes ends at its quote, so that "'a:0':C:/x" has the
/// value "C:/x". `flag` begins the message of a failure; so does it below.
NamedTexts parse_pairs(std::string_view text, std::string_view flag);

/// The same list where names may come again, as they do where later entries stand for earlier ones.
NamedTexts parse_pairs_that_repeat(std::string_view text, std::string_view flag);

/// "x:1x3x224x224,y:4,z:scalar". A scalar may also be written as nothing: "z:".
NamedExtents parse_shapes(std::string_view text, std::string_view flag);

/// A shape of a list, as the shape of a tensor that is declared so. One element stands for a scalar, too.
Extents as_declared(const Extents& given, std::span<const int64_t> declared);

/// "1x3x224x224"; nothing for a scalar.
std::string shape_text(std::span<const int64_t> extents);

/// Whether a name given on the command line means the tensor: equal, or equal around its one '*'.
bool matches(std::string_view pattern, std::string_view tensor);

/// Finds the entries of tensors, thousands of which may be named. Borrows the list.
template <class T>
class EntryIndex {
 public:
  explicit EntryIndex(const std::vector<std::pair<std::string, T>>& entries) {
    for (const auto& entry : entries)
      if (entry.first.find('*') == std::string::npos)
        by_name_.emplace(entry.first, &entry.second);
      else
        patterns_.push_back(&entry);
  }
  /// The entry of a tensor: of its very name, else the first whose pattern matches; null if there is none.
  const T* find(std::string_view tensor) const {
    if (const auto found = by_name_.find(tensor); found != by_name_.end()) return found->second;
    for (const auto* pattern : patterns_)
      if (pattern->first == tensor || matches(pattern->first, tensor)) return &pattern->second;
    return nullptr;
  }

 private:
  std::unordered_map<std::string_view, const T*> by_name_;
  std::vector<const std::pair<std::string, T>*> patterns_;
};

/// "'x', 'y'"
std::string quoted(std::span<const std::string> names);

/// Fails at a name given on the command line that means none of the inputs. `whose` begins the message: "the network".
template <class T>
void require_inputs(const std::vector<std::pair<std::string, T>>& entries, std::span<const std::string> inputs,
                    std::string_view whose) {
  const std::unordered_set<std::string_view> known(inputs.begin(), inputs.end());
  for (const auto& [name, value] : entries) {
    const auto fits = [&](const std::string& input) { return matches(name, input); };
    if (!known.contains(name) && (name.find('*') == std::string::npos || std::ranges::none_of(inputs, fits)))
      fail(whose, " has no input '", name, "'; its inputs are ", quoted(inputs));
  }
}

}  // namespace kiln::cli
