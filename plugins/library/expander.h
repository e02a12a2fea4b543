/// How libnvinfer learns what the library's plugins compute.
#pragma once

#include "base/error.h"

namespace kiln::plugins {

/// From here on, libnvinfer builds the library's plugins as layers.
Status offer_expansions();

}  // namespace kiln::plugins
