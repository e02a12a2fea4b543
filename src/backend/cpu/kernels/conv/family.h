/// The families of kernels of convolutions. Each kernel's file ends with the row of its family.
#pragma once

#include <functional>
#include <memory>

#include "backend/cpu/kernels/conv/conv.h"
#include "base/family.h"
#include "steps/window.h"

namespace kiln::cpu {

/// What a plan fixes of a convolution.
struct ConvProblem {
  const steps::Window& window;
  ConvWeights weights;
  bool residual = false;
  bool tf32 = false;  ///< sums may be as inexact as those of TF32
};

/// Weights as a family packs them, and its kernel.
struct PackedFilter {
  int64_t num_floats = 0;
  std::function<void(Team&, const ConvShape&, const float* in, float* out, const Epilogue&, void* workspace)> run = {};
  std::function<void(float* to)> unpack = {};  ///< none where packing loses bits
};
template <auto kKernel, class Packed>
Result<PackedFilter> packed_filter(Result<Packed> result) {
  const auto packed = std::make_shared<const Packed>(TRY(std::move(result)));
  PackedFilter filter{packed->num_floats()};
  filter.run = [packed](Team& team, const ConvShape& shape, const float* in, float* out, const auto&... behind) {
    kKernel(team, shape, in, *packed, out, behind...);
  };
  if constexpr (requires { packed->unpack(nullptr); }) filter.unpack = [packed](float* to) { packed->unpack(to); };
  return filter;
}

struct ConvFamily {
  std::string_view name;
  bool (*serves)(const ConvProblem&);  ///< whether the kernel computes it
  bool (*suits)(const ConvProblem&);   ///< whether one that it serves is worth timing
  Result<PackedFilter> (*pack)(const ConvProblem&, const float* w);
  int64_t (*workspace_bytes)(const ConvShape&, const ConvWeights&, int team_size);
  int64_t picture_channels = 0;  ///< up to so many, x is worth reading channels first; 0: it cannot be
};
extern const ConvFamily kConvDirect, kConvBanded, kConvWinograd, kConvDepthwise;
/// Likeliest first.
inline constexpr const ConvFamily* kConvFamilies[] = {&kConvDepthwise, &kConvWinograd, &kConvBanded, &kConvDirect};

inline const FieldType& field_type(Tag<const ConvFamily*>) {
  static const FamilyFieldType<ConvFamily> type(kConvFamilies);
  return type;
}

/// How a convolution runs on the CPU.
struct ConvTuning {
  const ConvFamily* family = &kConvDirect;

  static void reflect(auto& self, auto f) { f("family", self.family); }
};

}  // namespace kiln::cpu
