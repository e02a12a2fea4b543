#pragma once

#include "base/field.h"

namespace kiln::cpu {

using kiln::append;  // where argument-dependent lookup finds it for the enums of kernels

/// Kernels of convolutions, each in a folder or file of kernels/ by its name.
enum class ConvFamily : uint8_t { kDirect, kBanded, kWinograd, kDepthwise };
inline std::span<const std::string_view> enum_names(ConvFamily) {
  static constexpr std::string_view kNames[] = {"direct", "banded", "winograd", "depthwise"};
  return kNames;
}

/// How a convolution runs on the CPU.
struct ConvTuning {
  ConvFamily family = ConvFamily::kDirect;

  static void reflect(auto& self, auto f) { f("family", self.family); }
};

}  // namespace kiln::cpu
