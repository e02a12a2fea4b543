/// Which layers would leave FP16's range, found without the program's data.
#pragma once

#include "api/build/observed_network.h"

namespace kiln::api {

/// The largest magnitudes of a network's tensors, as far as a build can tell by itself. Empty where the weights do not
/// suggest numbers beyond FP16's largest (passes/magnitudes.h).
///
/// Else the network runs on the CPU, in FP32, with random inputs, and a tensor's range is twice what it reached,
/// because the program's data may reach farther. Inputs that are indices (passes/index_extents.h) are drawn from all of
/// their table. Where some number is not finite, as the logarithm of a negative input is, the network runs once more
/// with positive inputs. A tensor that is finite in neither run has the range that the weights suggest, and the log
/// names it.
///
/// Empty, too, where such a run is not safe (plugins, loops, shape inputs), takes long, or fails; the log says why.
Result<passes::Ranges> try_halves(const BuildToCome& build, Log& log);

}  // namespace kiln::api
