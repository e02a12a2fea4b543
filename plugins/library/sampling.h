/// Images sampled between their pixels.
#pragma once

#include "library/value.h"

namespace kiln::plugins {

/// What libnvinfer's RoiAlign takes, and other plugins alike: samples of a bin and bins, along an axis.
constexpr int64_t kMostSamples = 1024, kMostPooled = 16'384;

/// What is at rows y [N, Q] and columns x [N, Q] of images [N, H W, C], whose pixels are rows: [N, Q, C]. The nearest
/// four pixels are interpolated linearly; those outside count as 0. Images have H rows of W pixels, i32 tensors that
/// broadcast against [N, Q]; `first`, if given, is where an image starts in its rows.
struct Samples {
  Value images, height, width;
  Value first;
};
Value bilinear(const Samples& from, const Value& y, const Value& x);

/// An extent as an i32 tensor of rank 2.
Value i32_of(Layers& layers, const Extent& extent);

}  // namespace kiln::plugins
