#include "backend/cuda/kernels/conv/phases.h"

#include <cstring>

namespace kiln::cuda {
namespace {

struct PhaseAxis {
  int32_t taps, first, outputs, pad;
};
PhaseAxis axis_of(const ConvWindow& w, size_t axis, int32_t remainder) {
  const int32_t stride = w.stride[axis], pad = w.pad[axis];
  PhaseAxis a{};
  a.taps = (w.kernel[axis] - remainder + stride - 1) / stride;
  a.first = ((remainder - pad) % stride + stride) % stride;
  a.outputs = a.first < w.out[axis] ? (w.out[axis] - 1 - a.first) / stride + 1 : 0;
  a.pad = a.taps - 1 - (a.first + pad - remainder) / stride;
  return a;
}

int64_t size_of(const ConvKernel& kernel) { return bits_of(kernel->types.a) / 8; }

}  // namespace

bool has_phases(const ConvWindow& w) {
  for (size_t axis = 0; axis < 3; ++axis)
    if (w.dilation[axis] != 1 || w.kernel[axis] < w.stride[axis]) return false;
  return true;
}

std::vector<ConvPhase> phases_of(const ConvWindow& w) {
  std::vector<ConvPhase> phases;
  for (int32_t z = 0; z < w.stride[0]; ++z)
    for (int32_t y = 0; y < w.stride[1]; ++y)
      for (int32_t x = 0; x < w.stride[2]; ++x) {
        const int32_t remainder[] = {z, y, x};
        ConvPhase phase;
        for (size_t axis = 0; axis < 3; ++axis) {
          const PhaseAxis a = axis_of(w, axis, remainder[axis]);
          phase.window.in[axis] = w.in[axis];
          phase.window.out[axis] = a.outputs;
          phase.window.kernel[axis] = a.taps;
          phase.window.pad[axis] = a.pad;
          phase.first[axis] = a.first;
        }
        const int32_t(&taps)[3] = phase.window.kernel;
        for (int32_t tz = taps[0]; tz-- > 0;)
          for (int32_t ty = taps[1]; ty-- > 0;)
            for (int32_t tx = taps[2]; tx-- > 0;)
              phase.taps.push_back(((z + tz * w.stride[0]) * w.kernel[1] + y + ty * w.stride[1]) * w.kernel[2] + x +
                                   tx * w.stride[2]);
        phases.push_back(std::move(phase));
      }
  return phases;
}

int64_t phase_pitch(const ConvKernel& kernel, const FilterExtents& f, const ConvPhase& phase) {
  const int64_t whole = 16 / size_of(kernel), k = static_cast<int64_t>(phase.taps.size()) * f.in_channels;
  return (k + whole - 1) / whole * whole;
}
int64_t phase_elements(const ConvKernel& kernel, const FilterExtents& f, const ConvPhase& phase) {
  return f.groups * f.out_channels * phase_pitch(kernel, f, phase);
}

Bytes pack_phases(const ConvKernel& kernel, const FilterExtents& f, std::span<const ConvPhase> phases,
                  std::span<const std::byte> elements) {
  const auto size = static_cast<size_t>(size_of(kernel));
  int64_t total = 0;
  for (const ConvPhase& phase : phases) total += phase_elements(kernel, f, phase);
  Bytes packed(static_cast<size_t>(total) * size);
  std::byte* to = packed.data();
  for (const ConvPhase& phase : phases)
    for (int64_t group = 0; group < f.groups; ++group)
      for (int64_t out = 0; out < f.out_channels; ++out) {
        std::byte* at = to;
        for (const int32_t tap : phase.taps)
          for (int64_t in = 0; in < f.in_channels; ++in, at += size) {
            const int64_t from = ((group * f.in_channels + in) * f.out_channels + out) * f.taps + tap;
            std::memcpy(at, elements.data() + static_cast<size_t>(from) * size, size);
          }
        to += static_cast<size_t>(phase_pitch(kernel, f, phase)) * size;
      }
  return packed;
}

}  // namespace kiln::cuda
