/// Regions of images, and the levels of a feature pyramid that they are taken from.
#pragma once

#include "library/shape.h"

namespace kiln::plugins {

/// Fails unless input 0 are regions [N, R, 4] and the others levels [N, C, H, W], the first called p2.
Status require_pyramid(std::span<const Shape> inputs);

}  // namespace kiln::plugins
