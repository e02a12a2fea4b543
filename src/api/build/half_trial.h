/// Which layers would leave FP16's range, found without the program's data.
#pragma once

#include "api/build/observed_network.h"

namespace kiln::api {

/// Where the weights suggest that a network makes numbers beyond FP16's largest (passes/magnitudes.h), runs it once on
/// the CPU, in FP32, with random inputs: what its tensors reach, twice over, since the program's data may reach
/// farther. No ranges else, nor where such a run is not safe (plugins, loops, shape inputs), takes long, or fails; the
/// log says why.
Result<passes::Ranges> try_halves(const BuildToCome& build, Log& log);

}  // namespace kiln::api
