/// Names of data types, for errors.
#pragma once

#include <NvInferRuntimeBase.h>

#include <string>

namespace kiln::plugins {

namespace nv = nvinfer1;

/// "kHALF".
std::string name_of(nv::DataType type);
/// "kFLOAT or kHALF": the types for which `takes` is true.
template <class F>
std::string names_of_types(F takes) {
  std::string names;
  for (int32_t i = 0; i < nv::EnumMax<nv::DataType>(); ++i)
    if (const auto type = static_cast<nv::DataType>(i); takes(type))
      names += (names.empty() ? "" : " or ") + name_of(type);
  return names.empty() ? "none" : names;
}

}  // namespace kiln::plugins
