/// Pictures from channels first to channels last.
#pragma once

#include <cstdint>

namespace kiln::cpu {

/// Pixels [begin, end): `in` is [c, plane] and `out` [plane, c]. Meant for the few channels of a picture.
void to_channels_last(const float* in, int64_t plane, int64_t c, int64_t begin, int64_t end, float* out);

}  // namespace kiln::cpu
