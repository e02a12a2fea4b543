/// Shared by the tactics of NVIDIA's libraries: which epilogues libraries have exactly.
#pragma once

#include "backend/cuda/tactics/backend.h"

namespace kiln::cuda {

/// A contraction's region, or why a library cannot have its types or its epilogue: libraries take [+ bias] [+ residual]
/// [relu], in FP32 behind the sums.
Match checked_for_library(const TacticContext& cx, Match region);

/// How many of a library's choices are worth timing.
size_t most_library_variants(const TacticContext& cx);

/// A time that no way to run a region can beat: its arithmetic and its memory at the device's rates, and a launch.
double least_time_us(const TacticContext& cx, const Region& region, double multiply_adds);

}  // namespace kiln::cuda
