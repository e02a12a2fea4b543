#include "library/data_types.h"

#include <array>
#include <iterator>

#include "base/str.h"

namespace kiln::plugins {

std::string name_of(nv::DataType type) {
  static constexpr std::array kNames{"kFLOAT", "kHALF", "kINT8",  "kINT32", "kBOOL", "kUINT8",
                                     "kFP8",   "kBF16", "kINT64", "kINT4",  "kFP4",  "kE8M0"};
  static_assert(std::ssize(kNames) == nv::EnumMax<nv::DataType>());
  const auto index = static_cast<size_t>(type);
  return index < kNames.size() ? kNames[index] : str("DataType ", static_cast<int32_t>(type));
}

}  // namespace kiln::plugins
